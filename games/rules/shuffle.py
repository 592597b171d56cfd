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

Shuffle = Callable[[Sequence[Card], str], list[Card]]
"""``shuffle(cards, stream)``: each named stream of a round's key gives an order of its own."""

DEAL: Final = "0"
"""The stream of the deal."""


def reshuffle(number: int) -> str:
    """Return the stream of a round's first reshuffle (1), second and so on."""
    return str(number)


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
    """Shuffles by a key; the same key, cards and stream give the same order.

    >>> Shuffler(key_from_seed("x")).shuffle(["r1", "r2", "r3"], DEAL)
    ['r1', 'r2', 'r3']
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        # HMAC as RFC 2104 writes it: for messages this short a third quicker than the hmac module, which counts
        # where thousands of games are dealt.
        padded = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
        self._inner = padded.translate(_INNER_PAD)
        self._outer = padded.translate(_OUTER_PAD)

    def shuffle(self, cards: Sequence[Card], stream: str) -> list[Card]:
        """Return the cards in the order of a stream; its name is ASCII."""
        result = list(cards)
        left = len(result)
        fair = _fair_below(left)
        name = stream.encode("ascii")
        block = 0
        while left > 1:
            inner = sha256(self._inner + b"%b:%d" % (name, block)).digest()
            for word in _WORDS(sha256(self._outer + inner).digest()):
                if left > 1 and word < fair[left]:
                    other = word % left
                    left -= 1
                    result[left], result[other] = result[other], result[left]
            block += 1
        return result
