"""The committed shuffle: Fisher-Yates over an HMAC-SHA256 stream (NOTATION, "Shuffle")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import Final

from games.rules.cards import Card

_BLOCK: Final = 64
_INNER_PAD: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER_PAD: Final = bytes(byte ^ 0x5C for byte in range(256))
_WORDS: Final = Struct(">8I").unpack
_RANGE: Final = 2**32

Shuffle = Callable[[Sequence[Card], int], list[Card]]
"""``shuffle(cards, epoch)``: epoch 0 is the deal, epoch e the e-th reshuffle."""


def key_from_seed(seed: str) -> bytes:
    """Return the key of a seed text; a played round's key is its 32 secret bytes instead.

    >>> key_from_seed("").hex()[:16]
    'e3b0c44298fc1c14'
    """
    return sha256(seed.encode("utf-8")).digest()


def commitment(secret: bytes) -> str:
    """Return what is published at the deal: the hex SHA-256 of the round's secret."""
    return sha256(secret).hexdigest()


@lru_cache(maxsize=32)
def _fair_below(most: int) -> tuple[int, ...]:
    """Return, for each number of cards up to ``most``, the bound below which a word picks each of them alike."""
    return (0, *(_RANGE - _RANGE % left for left in range(1, most + 1)))


class Shuffler:
    """Shuffles by a key; the same key, cards and epoch give the same order.

    >>> Shuffler(key_from_seed("x")).shuffle(["r1", "r2", "r3"], 0)
    ['r1', 'r2', 'r3']
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        # HMAC as RFC 2104 writes it: for messages this short a third quicker than the hmac module, which counts
        # where thousands of games are dealt.
        padded = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
        self._inner = padded.translate(_INNER_PAD)
        self._outer = padded.translate(_OUTER_PAD)

    def shuffle(self, cards: Sequence[Card], epoch: int) -> list[Card]:
        """Return the cards in the order of this epoch."""
        result = list(cards)
        left = len(result)
        fair = _fair_below(left)
        block = 0
        while left > 1:
            inner = sha256(self._inner + b"%d:%d" % (epoch, block)).digest()
            for word in _WORDS(sha256(self._outer + inner).digest()):
                if left > 1 and word < fair[left]:
                    other = word % left
                    left -= 1
                    result[left], result[other] = result[other], result[left]
            block += 1
        return result
