"""What surrounds the rules, at tables of every preset: replays, rematches, acts of staff and old stored options."""

from __future__ import annotations

import pytest

from accounts.models import User
from games import rules
from games.actions import rematch
from games.models import Game, Move
from games.queries import Viewer
from games.staff import tables
from tests.conftest import logged_in, staff
from tests.games.test_api_variants import CHALLENGEABLE, RACE
from tests.games.test_two_sides import LIGHT
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.staff import act, confirm
from tests.support.tables import NOON, now_of, table_after, table_at

pytestmark = pytest.mark.django_db


@pytest.mark.long
@pytest.mark.parametrize("preset", rules.PRESETS)
def test_a_replay_can_be_seen_from_every_seat(alice: User, bob: User, preset: str) -> None:
    table = table_after([alice, bob, "sharp"], 200, seed=8, preset=preset)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.VOID)
    url, browser = f"/games/{table.game.code}/replay/", logged_in(alice)
    for step, seat in enumerate((None, 0, 1, 2)):
        query = {"n": table.game.version * (step + 1) // 5} | ({} if seat is None else {"seat": seat})
        assert browser.get(url, query).status_code == 200


def test_a_replay_shows_races_debts_and_interceptions(alice: User, bob: User) -> None:
    table = table_after(
        [alice, bob, "sharp"], 10_000, seed=8, preset="house-party", options={"buzzers": "race"}, pace="live"
    )
    browser = logged_in(alice)
    for kind, words in (
        ("pressed", "presses the buzzer"),
        ("slowest", "is the slowest"),
        ("owes", "bob owes "),
        ("intercepted", "intercepts"),
    ):
        moves = Move.objects.filter(game=table.game, events__contains=[{"kind": kind, "seat": 1}])
        shown = text_of(browser.get(f"/games/{table.game.code}/replay/", {"n": moves[0].n}))
        assert words in shown, shown


@pytest.mark.parametrize(
    ("preset", "options", "stored"),
    [
        *((preset, {"hand_size": 6, "callout_penalty": 1}, None) for preset in rules.PRESETS),
        ("classic", {"bluff": "off", "first_discard": "number"}, {}),  # an old game without challenges
    ],
)
def test_a_rematch_keeps_every_option(
    alice: User, bob: User, preset: str, options: dict[str, object], stored: dict[str, object] | None
) -> None:
    table = table_after([alice, bob], 0, seed=8, preset=preset, options=options)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.OVER, winner=0)
    assert stored is None or table.game.options == stored
    again = rematch.ask_rematch(code=table.game.code, viewer=Viewer(alice), now=NOON)
    assert (again.game.preset, again.options) == (preset, table.options)


def test_a_record_with_stacking_true_or_false_is_read(alice: User, bob: User) -> None:
    table = table_after([alice, bob], 10_000, seed=8, options={"stacking": "off"})
    text = logged_in(alice).get(f"/games/{table.game.code}/record/").content.decode()
    assert '"stacking": "off"' in text
    old = rules.parse_record(text.replace('"stacking": "off"', '"stacking": false'))
    assert old == rules.parse_record(text)
    assert list(rules.replay_record(old))


def test_staff_see_both_faces_of_the_hands(alice: User, bob: User, charlie: User) -> None:
    table = table_at(LIGHT, [alice, bob, charlie], preset="flip")
    url = f"/admin/games/game/{table.game.pk}/act/look/"
    mo = staff("mo", "moderator")
    assert tables.view_hands(**act(table, mo))[1] == list(table.started.position.hands)
    page = confirm(staff_browser(mo), url, {"reason": "A report about this table"})
    assert "Red 5, Orange 2 on the back" in text_of(page)


@pytest.mark.parametrize(
    ("position", "preset", "options", "says"),
    [
        (CHALLENGEABLE, "classic", {}, "bob: challenge or take 4"),
        (RACE, "house-party", {"buzzers": "race"}, "Who presses the buzzer last?"),
        (LIGHT, "flip", {}, "alice’s turn"),
    ],
    ids=["a right to challenge", "a race", "flip"],
)
def test_staff_can_deal_again_in_the_new_phases(
    alice: User,
    bob: User,
    charlie: User,
    position: dict[str, object],
    preset: str,
    options: dict[str, object],
    says: str,
) -> None:
    people = [alice, bob, charlie]
    table = table_at(position, people, preset=preset, options=options, pace="live", target=500)
    ann = staff("ann", "admin")
    assert says in text_of(staff_browser(ann).get(f"/admin/games/game/{table.game.pk}/change/"))
    tables.void_round(**act(table, ann))
    after = now_of(table)
    assert (after.started.round.number, after.started.position.extra.buzz) == (2, None)
    assert [len(hand) for hand in after.started.position.hands] == [7, 7, 7]
