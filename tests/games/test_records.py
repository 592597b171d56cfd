"""The records of stored games of every preset: they round-trip, verify, and give the outcomes that are stored."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import pytest

from accounts.models import User
from games import randomness, rules
from games.actions import lobby
from games.models import Game, Move, Round
from games.queries import Table, Viewer, records
from games.queries.verify import faults_of
from tests.conftest import logged_in
from tests.support.tables import NOON, now_of, table_after

pytestmark = pytest.mark.django_db(transaction=True)

CASES: Final[dict[str, tuple[str, Mapping[str, object], int]]] = {
    **{preset: (preset, {}, 4) for preset in rules.PRESETS},
    "ten at a flip table": ("flip", {"stacking": "any", "mercy_limit": 12, "mercy_cards": "draw_pile"}, 10),
    "elimination": ("house-party", {"mercy_limit": 12, "mercy_card_points": True, "scoring": "winner"}, 5),
    "a race": ("house-party", {"buzzers": "race", "bluff": "official", "interceptions": "exact"}, 3),
    "four plain wilds": ("no-mercy", {"deck": "nomercy172", "stacking": "same", "buzzers": "lottery"}, 3),
    "no limit in the old rules": ("no-mercy", {"stacking": "off", "mercy_limit": 0, "hand_size": 3}, 2),
}  # fmt: skip
"""The preset, the changed options and the number of players of each case."""


def finished(people: list[User], case: str) -> Table:
    """Return a match of two random rounds that was then called off. One player has left in the first round."""
    preset, options, players = CASES[case]
    names: list[User | str] = [*people[:2], *["careful"] * (players - 2)]
    leave = {1: 8} if players > 2 else {}
    table = table_after(names, 10_000, seed=5, earlier=1, preset=preset, options=options, leave=leave)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.VOID)
    return now_of(table)


@pytest.mark.long
def test_the_records_of_games_round_trip_and_verify_and_have_every_kind_of_event(alice: User, bob: User) -> None:
    happened: Counter[str] = Counter()
    browser = logged_in(alice)
    for case in CASES:
        table = finished([alice, bob], case)
        assert faults_of(table.game.pk) == [], case
        text = browser.get(f"/games/{table.game.code}/record/").content.decode()
        record = rules.parse_record(text)
        assert rules.print_record(record) == text, case
        assert record.options == table.options, case
        replayed = [round_.position for round_ in rules.replay_record(record)]
        stored = Round.objects.filter(game=table.game).order_by("number").values_list("winner", "points")
        assert [(position.winner, _json(position.points)) for position in replayed] == list(stored), case
        without_seeds = rules.parse_record(rules.print_record(record._replace(seeds=())))
        assert len(list(rules.replay_record(without_seeds))) == 2, case
        for line in Move.objects.filter(game=table.game).values_list("events", flat=True):
            happened.update(f"{event['kind']} {event.get('reason', '')}".strip() for event in line)
    # The cases would test less than they say if one of these did not happen in any of them.
    for kind in (
        "slowest", "pressed", "shuffled_in", "reshuffled", "left", "knocked_out", "flipped dark", "flipped light",
        "challenged right", "challenged wrong", "missed", "intercepted",
    ):  # fmt: skip
        assert happened[kind], kind


def _json(points: Any) -> Any:
    return list(points) if isinstance(points, tuple) else points


STRICT: Final = {"hand_size": 9, "mercy_limit": 10, "mercy_cards": "draw_pile"}
"""Options with which a first Draw Two knocks out the first player."""


def strict_seed(players: int) -> int:
    """Return the seed of a secret with which the first discard knocks somebody out, if the last seat deals."""
    engine = rules.options_from("classic", {**STRICT, "target": 0})
    shuffles = ((seed, rules.Shuffler(random.Random(seed).randbytes(32)).shuffle) for seed in count())
    return next(seed for seed, shuffle in shuffles if rules.deal(engine, players, shuffle).out)


@pytest.mark.rule("FIRST-1", "ELIM-1")
@pytest.mark.parametrize("players", [2, 3])
def test_a_record_has_the_shuffle_of_a_first_discard_that_knocks_out(alice: User, bob: User, players: int) -> None:
    names: list[User | str] = [alice, bob, "careful"]
    table = table_after(names[:players], 10_000, strict_seed(players), preset="classic", options=STRICT)
    record = records.record_of(table)
    assert record.rounds[0].lines[0].at == ""
    assert rules.parse_record(rules.print_record(record)) == record
    assert list(rules.replay_record(record))
    assert faults_of(table.game.pk) == []


class _Source(random.Random):
    """Randomness that makes the last seat the dealer."""

    def randrange(self, start: int, *_: Any) -> int:
        return start - 1


@pytest.mark.rule("FIRST-1", "MERCY-1")
def test_a_round_that_the_first_discard_ends_is_finished_at_once(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = lobby.create_table(
        user=alice, choices=lobby.TableChoices(players=2, preset="classic", options=STRICT), now=NOON
    )
    monkeypatch.setattr(randomness, "source", _Source(strict_seed(2)))
    lobby.join(code=made.game.code, viewer=Viewer(bob), now=NOON)
    table = now_of(made)
    assert (table.game.status, table.game.winner, table.game.version) == ("over", 1, 0)
    assert table.game.deadline is None
    assert faults_of(table.game.pk) == []
    assert logged_in(alice).get(f"/games/{table.game.code}/").status_code == 200
    assert logged_in(alice).get(f"/games/{table.game.code}/replay/").status_code == 200
    assert list(rules.replay_record(records.record_of(table)))
