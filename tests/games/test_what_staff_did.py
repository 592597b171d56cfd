"""What players read of the acts of the staff at their table: a sentence each, with the names of today."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from games import render as rendering
from games.actions import agreements, lobby
from games.actions.moderation import people, tables
from games.admin.table_acts import PAGES
from games.models import Game, Seat
from games.queries import Table, conduct
from games.render.acts import SAID
from tests.support.tables import NOON, now_of, table_after

REASON = "Asked for by the players themselves"


@pytest.fixture
def dealt(alice: User, bob: User, charlie: User) -> Table:
    table = table_after([alice, bob, charlie], 7, seed=0)
    Game.objects.filter(pk=table.game.pk).update(target=500, deadline=NOON + timedelta(hours=10), turn_since=NOON)
    Seat.objects.filter(game=table.game, index=1).update(misses=2)
    return now_of(table)


@pytest.fixture
def dora() -> User:
    return User.objects.create_user(username="dora")


def on(game: Game, by: User, **more: Any) -> dict[str, Any]:
    return {"game_id": game.pk, "by": by, "reason": REASON, "now": NOON, **more}


def told(game: Game) -> list[str]:
    """The sentences, oldest first."""
    entries = conduct.told_of_game(game)
    return [deed.text for deed in rendering.deeds_of(entries, conduct.names_in(entries))][::-1]


def test_every_act_at_a_table_has_a_sentence_and_no_other_act_stands_there() -> None:
    assert {act.value for act in SAID} == set(PAGES)


def test_what_staff_did_is_told_in_the_past_and_says_to_whom(dealt: Table, ann: User, dora: User) -> None:
    game = dealt.game
    tables.pause(**on(game, ann))
    tables.resume(**on(game, ann))
    tables.extend(**on(game, ann, minutes=90))
    tables.extend(**on(game, ann, minutes=1))
    tables.forgive(**on(game, ann, seat=1))
    tables.void_round(**on(game, ann))
    tables.move_seat(**on(game, ann, seat=1, username="dora"))
    tables.remove(**on(game, ann, seat=1, bot=True))
    tables.move_seat(**on(game, ann, seat=1, username="bob"))
    tables.look(**on(game, ann))
    tables.remove(**on(game, ann, seat=2, bot=False))
    expected = [
        "Staff paused the game.",
        "Staff let the game go on.",
        "Staff gave alice 90 minutes more for the turn.",
        "Staff gave alice 1 minute more for the turn.",
        "Staff took 2 missed turns off bob’s count.",
        "Staff made round 1 void, and it was dealt anew.",
        "Staff gave bob’s seat to dora.",
        "Staff took dora off the table: a bot has the seat from then on.",
        "Staff gave a bot’s seat to bob.",
        "Staff took charlie off the table.",
    ]
    assert told(game) == expected
    tables.void_game(**on(game, ann))
    assert told(Game.objects.get(pk=game.pk)) == [
        *expected[:-1], "Staff looked at the hands.", expected[-1], "Staff ended the game without a winner."
    ]  # fmt: skip


def test_before_the_start_a_seat_is_free_again_and_a_table_closed(ann: User, alice: User, bob: User) -> None:
    game = lobby.create_table(user=alice, options=lobby.TableOptions(), now=NOON).game
    lobby.join(code=game.code, user=bob, now=NOON)
    tables.remove(**on(game, ann, seat=1, bot=True))
    tables.close(**on(game, ann))
    assert told(game) == ["Staff took bob off the table.", "Staff closed the table before it started."]


def test_a_pause_of_the_players_that_staff_ended_is_told_as_theirs(dealt: Table, ann: User) -> None:
    for seat in dealt.seats:
        assert seat.user is not None
        agreements.ask_pause(code=dealt.game.code, user=seat.user, now=NOON)
    tables.resume(**on(dealt.game, ann))
    assert told(dealt.game) == ["Staff ended the pause that the players had agreed on."]


def test_a_name_that_staff_took_later_is_not_told_and_who_is_gone_has_none(
    dealt: Table, ann: User, bob: User, dora: User
) -> None:
    User.objects.filter(pk=bob.pk).update(display_name="Rude Word")
    tables.move_seat(**on(dealt.game, ann, seat=1, username="dora"))
    tables.extend(**on(dealt.game, ann, minutes=5))
    assert told(dealt.game)[0] == "Staff gave Rude Word’s seat to dora."
    people.mute(person_id=bob.pk, days=3, by=ann, reason=REASON, now=NOON)
    assert told(dealt.game)[0] == "Staff gave bob’s seat to dora."
    User.objects.filter(pk=bob.pk).delete()
    assert told(dealt.game)[0] == "Staff gave a former player’s seat to dora."
