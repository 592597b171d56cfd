"""Test the staff acts pause, resume, extend and forgive."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from games import queries
from games.actions import lobby
from games.actions.play import play_move
from games.clocks import pausing
from games.models import AuditEntry, Seat
from games.queries import Table, Viewer
from games.refusals import Denied
from games.render.log_notes import notes_of
from games.staff import tables
from tests.conftest import person
from tests.support.clocks import THREE_HANDS
from tests.support.codes import staff_browser
from tests.support.staff import REASON, act, dealt, entry_of, open_act, refused
from tests.support.tables import NOON, now_of, table_at

__all__ = ["dealt"]  # the fixture


def test_a_pause_stops_moves_until_staff_resume(dealt: Table, mo: User) -> None:
    tables.pause(**act(dealt, mo))
    user = dealt.on_turn.user
    assert user is not None
    with pytest.raises(Denied, match="paused"):
        play_move(code=dealt.game.code, viewer=Viewer(user), text="draw", version=dealt.game.version, now=NOON)
    refused("forbidden", tables.pause, **act(dealt, mo))
    tables.resume(**act(dealt, mo, now=NOON + timedelta(hours=3)))
    assert now_of(dealt).game.deadline == NOON + timedelta(hours=13)
    refused("forbidden", tables.resume, **act(dealt, mo))
    assert [entry.act for entry in AuditEntry.objects.order_by("pk")] == ["pause", "resume"]


def test_resuming_ends_the_pause_by_staff_before_that_of_the_players(dealt: Table, mo: User) -> None:
    pausing.pause(dealt, reason="consent", now=NOON)
    tables.pause(**act(dealt, mo))
    page = open_act(staff_browser(mo), dealt.game, "resume").send(follow=True).text
    assert "The pause by staff has ended. The game is still paused: see its status." in page
    assert "The game has resumed." not in page
    assert now_of(dealt).game.paused_reasons == ["consent"]
    [_, note] = notes_of(queries.between_moves(now_of(dealt), None))
    assert note.text == "Staff ended their pause. The game is still paused."
    tables.resume(**act(dealt, mo, now=NOON + timedelta(hours=3)))
    assert (now_of(dealt).game.paused_at, now_of(dealt).game.deadline) == (None, NOON + timedelta(hours=13))
    resumes = AuditEntry.objects.filter(act="resume").order_by("pk")
    assert [entry.details for entry in resumes] == [{"pause": "staff", "still_paused": True}, {"pause": "consent"}]
    refused("forbidden", tables.resume, **act(dealt, mo))


@pytest.mark.parametrize("bot", [True, False])
def test_a_pause_ends_when_staff_remove_the_last_person(mo: User, alice: User, bot: bool) -> None:
    table = table_at(THREE_HANDS, [alice, "careful", "careful"], deadline=NOON + timedelta(hours=1))
    pausing.pause(table, reason="consent", now=NOON)
    tables.remove(**act(table, mo, seat=0, bot=bot))
    game = now_of(table).game
    assert (game.status, game.paused_reasons, game.wake_at) == ("playing", [], NOON)


def test_an_extension_gives_the_current_turn_more_time(dealt: Table, mo: User) -> None:
    tables.extend(**act(dealt, mo, minutes=90))
    assert now_of(dealt).game.deadline == NOON + timedelta(hours=11, minutes=30)
    turn = dealt.started.position.turn
    entry = entry_of(dealt)
    assert (entry.seat, entry.person, entry.details) == (turn, dealt.seats[turn].user, {"minutes": 90})
    refused("malformed", tables.extend, **act(dealt, mo, minutes=0))


def test_the_page_to_extend_the_clock_names_who_gets_the_time(dealt: Table, mo: User) -> None:
    row = dealt.on_turn
    page = open_act(staff_browser(mo), dealt.game, "extend")
    assert page.button == f"Give {row.name}, seat {row.index + 1}, more time"


def test_a_turn_that_has_moved_on_is_not_extended(mo: User, alice: User, bob: User) -> None:
    table = table_at(THREE_HANDS, [alice, bob, person("dora")], deadline=NOON + timedelta(hours=1))
    page, before = open_act(staff_browser(mo), table.game, "extend"), table.on_turn
    assert before.user is not None
    play_move(code=table.game.code, viewer=Viewer(before.user), text="play r5", version=0, now=NOON)
    row, deadline = now_of(table).on_turn, now_of(table).game.deadline
    assert row.index != before.index
    answer = page.send(**page.fields | {"amount": "90", "reason": REASON})
    assert answer.status == 409
    assert (
        "Nothing has been done. The turn has moved on since you opened this page:"
        f" it is {row.name}’s turn now, seat {row.index + 1}. To go ahead all the same, confirm again."
    ) in answer.text
    assert answer.button == f"Give {row.name}, seat {row.index + 1}, more time"
    assert (now_of(table).game.deadline, AuditEntry.objects.exists()) == (deadline, False)
    assert answer.send(**answer.fields | {"amount": "90", "reason": REASON}).status == 302
    assert AuditEntry.objects.get().person == row.user


def test_forgiving_misses_gives_the_used_time_back(dealt: Table, mo: User, bob: User) -> None:
    refused("forbidden", tables.forgive, **act(dealt, mo, seat=1))
    Seat.objects.filter(game=dealt.game, index=1).update(misses=2, bank=400)
    tables.forgive(**act(dealt, mo, seat=1))
    seat = now_of(dealt).seats[1]
    assert (seat.misses, seat.bank) == (0, 86_400)
    entry = entry_of(dealt)
    assert (entry.person, entry.details) == (bob, {"misses": 2, "seconds": 86_000})


def test_misses_can_be_forgiven_only_in_a_running_game(ann: User, alice: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON)
    refused("not_started", tables.forgive, **act(table, ann, seat=0))
    browser, back = staff_browser(ann), f"/admin/games/game/{table.game.pk}/change/"
    url = f"/admin/games/game/{table.game.pk}/act/forgive/"
    page = browser.get(url)
    assert (page.status_code, page.headers.get("Location")) == (302, back)
    assert "is not possible at a table that is open" in browser.get(back).content.decode().lower()
    sent = browser.post(url, {"seat": "0", "reason": REASON})
    assert sent.status_code == 409
    assert "is not possible at a table that is open" in sent.content.decode().lower()
    assert REASON in sent.content.decode()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(("amount", "unit", "minutes"), [("3", "1440", 4320), ("2", "60", 120), ("9", "", 9)])
def test_more_time_is_given_in_minutes_hours_or_days(
    dealt: Table, ann: User, amount: str, unit: str, minutes: int
) -> None:
    assert open_act(staff_browser(ann), dealt.game, "extend").send(amount=amount, unit=unit).status == 302
    assert AuditEntry.objects.get().details["minutes"] == minutes


@pytest.mark.parametrize("time", [{"amount": "61", "unit": "1440"}, {"amount": "0", "unit": "60"}, {"unit": "2"}])
def test_too_much_time_or_none_is_refused(dealt: Table, ann: User, time: dict[str, Any]) -> None:
    assert open_act(staff_browser(ann), dealt.game, "extend").send(**{"amount": "", **time}).status == 422
    assert not AuditEntry.objects.exists()
