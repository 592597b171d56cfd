"""The shuffle: as in docs/notation.md, fair, and committed to."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from itertools import permutations

import pytest

from games.rules import DEAL, DECKS, Shuffler, commitment, key_from_seed


def shuffled_by_notation(key: bytes, cards: list[str], stream: str) -> list[str]:
    """Shuffle as docs/notation.md describes it, with the hmac module."""
    octets = b"".join(hmac.new(key, f"{stream}:{i}".encode(), hashlib.sha256).digest() for i in range(60))
    words = [int.from_bytes(octets[at : at + 4], "big") for at in range(0, len(octets), 4)]
    cards = list(cards)
    for k in range(len(cards) - 1, 0, -1):
        word = words.pop(0)
        while word >= 2**32 - 2**32 % (k + 1):
            word = words.pop(0)
        cards[k], cards[word % (k + 1)] = cards[word % (k + 1)], cards[k]
    return cards


@pytest.mark.parametrize("stream", ["0", "1", "12", "p0"])
@pytest.mark.parametrize("seed", ["", "no mercy", "☂"])
def test_the_shuffle_is_the_one_of_the_notation(seed: str, stream: str) -> None:
    key, cards = key_from_seed(seed), list(DECKS["nomercy168"].cards)
    assert Shuffler(key).shuffle(cards, stream) == shuffled_by_notation(key, cards, stream)


@pytest.mark.parametrize("length", [0, 63, 64, 65, 200])
def test_a_key_may_have_any_length(length: int) -> None:
    key, cards = b"k" * length, list(DECKS["nomercy168"].cards)
    assert Shuffler(key).shuffle(cards, DEAL) == shuffled_by_notation(key, cards, DEAL)


def test_shuffling_does_not_change_its_input() -> None:
    cards = ["r1", "r2", "r3"]
    Shuffler(b"k").shuffle(cards, DEAL)
    assert cards == ["r1", "r2", "r3"]
    assert Shuffler(b"k").shuffle([], DEAL) == []


def test_the_key_of_a_seed_and_the_commitment_are_sha256() -> None:
    assert key_from_seed("☂") == hashlib.sha256("☂".encode()).digest()
    assert commitment(b"s" * 32) == hashlib.sha256(b"s" * 32).hexdigest()


def test_all_orders_are_equally_frequent() -> None:
    rounds, cards = 4800, ["r1", "r2", "r3", "r4"]
    seen = Counter(tuple(Shuffler(str(n).encode()).shuffle(cards, DEAL)) for n in range(rounds))
    expected = rounds / 24
    chi_square = sum((seen[order] - expected) ** 2 / expected for order in permutations(cards))
    assert chi_square < 49.7, "a fair shuffle exceeds this once in 1,000 runs; with fixed keys the result is constant"
