"""The committed shuffle: Fisher-Yates over an HMAC-SHA256 stream (docs/notation.md, "Shuffle")."""

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
"""A function ``shuffle(cards, stream)`` that returns the cards in a new order. Each named stream has its own order."""

DEAL: Final = "0"
"""The name of the deal's stream."""


def reshuffle(number: int) -> str:
    """Return the name of the stream of a reshuffle. ``number`` is 1 for the first of a round."""
    return str(number)


def pairing(number: int) -> str:
    """Return the name of the stream that pairs the sides of a deck. ``number`` is 0 for the first try (PAIR-1)."""
    return f"p{number}"


def lottery(number: int) -> str:
    """Return the name of the stream of a buzzer. ``number`` is 1 for the first buzzer of a round (BUZZ-3)."""
    return f"b{number}"


def is_of_deal(stream: str) -> bool:
    """Return True if a stream orders the cards of the deal or pairs their sides.

    >>> is_of_deal(DEAL), is_of_deal(pairing(0)), is_of_deal(reshuffle(1)), is_of_deal(lottery(1))
    (True, True, False, False)
    """
    return stream == DEAL or stream.startswith("p")


def key_from_seed(seed: str) -> bytes:
    """Return the key for a seed text. The key of a played round is its 32 secret bytes instead.

    >>> key_from_seed("").hex()[:16]
    'e3b0c44298fc1c14'
    """
    return sha256(seed.encode("utf-8")).digest()


def commitment(secret: bytes) -> str:
    """Return the hex SHA-256 of a round's secret, which is published at the deal."""
    return sha256(secret).hexdigest()


@lru_cache(maxsize=32)
def _word_bounds(most: int) -> tuple[int, ...]:
    """Return the bound for each number of cards, 0 to ``most``.

    A random 32-bit word below the bound, modulo the number of cards, picks each card with the same probability. One
    card needs no word, so that its bound is 0.
    """
    return (0, 0, *(_RANGE - _RANGE % left for left in range(2, most + 1)))


class Shuffler:
    """Shuffles cards with a secret key. The same key, cards and stream give the same order.

    >>> Shuffler(key_from_seed("x")).shuffle(["r1", "r2", "r3"], DEAL)
    ['r1', 'r2', 'r3']
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        # HMAC written out as in RFC 2104, with the hashes of the padded key kept: several times faster than the hmac
        # module for messages this short, which matters to bots that deal thousands of games.
        padded = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
        self._inner = sha256(padded.translate(_INNER_PAD))
        self._outer = sha256(padded.translate(_OUTER_PAD))

    def shuffle(self, cards: Sequence[Card], stream: str) -> list[Card]:
        """Return the cards in the order of a stream. The name of the stream must be ASCII."""
        result = list(cards)
        left = len(result)
        bounds = _word_bounds(left)
        name = stream.encode("ascii")
        block = 0
        while left > 1:
            inner, outer = self._inner.copy(), self._outer.copy()
            inner.update(b"%b:%d" % (name, block))
            outer.update(inner.digest())
            for word in _WORDS(outer.digest()):
                if word < bounds[left]:
                    other = word % left
                    left -= 1
                    result[left], result[other] = result[other], result[left]
            block += 1
        return result
