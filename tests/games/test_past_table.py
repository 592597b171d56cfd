"""What a player who is out of a round watches."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from games import queries, rules
from games.actions import lobby
from games.models import Game, Hand, Move, Round
from games.queries import Table, Viewer, past_table
from games.render.table import sorted_hand
from tests.conftest import logged_in
from tests.support.clocks import move
from tests.support.game_page import GamePage
from tests.support.tables import NOON, now_of, table_after

pytestmark = pytest.mark.django_db


def knocked_out(table: Table) -> dict[int, int]:
    """Return the line of the log that knocked each seat out."""
    found = {}
    for n, events in Move.objects.filter(game=table.game).values_list("n", "events"):
        found.update({event["seat"]: n for event in events if event["kind"] == "knocked_out"})
    return found


@pytest.fixture
def over(alice: User, bob: User, charlie: User) -> Table:
    """A finished round in which alice and bob were knocked out, bob first."""
    table = table_after([alice, bob, charlie], 10_000, seed=3)
    assert set(knocked_out(table)) == {0, 1}
    return table


@pytest.fixture
def match(alice: User, bob: User, charlie: User, mo: User) -> tuple[Table, int]:
    """A match in its second round, and a seat that was knocked out well before the end of the first."""
    people = [alice, bob, charlie, mo]
    options = lobby.TableChoices(players=4, target=5000, options={"mercy_limit": 10}, public=False)
    for seed in range(50):
        rng = random.Random(seed)
        table = lobby.create_table(user=alice, choices=options, now=NOON)
        for user in people[1:]:
            lobby.join(code=table.game.code, viewer=Viewer(user, [table.game.invite_key]), now=NOON)
        while (here := now_of(table)).game.round is None or here.started.round.number == 1:
            position = here.started.position
            text = str(rng.choice(rules.legal_moves(position, position.turn, here.options)))
            move(here, people[position.turn], text, version=here.game.version)
        early = [seat for seat, n in knocked_out(here).items() if n < here.game.version - 3]
        if early:
            Game.objects.filter(pk=here.game.pk).update(deadline=None)
            return here, early[0]
        Game.objects.filter(pk=here.game.pk).update(status=Game.Status.VOID)
    raise AssertionError("nobody was knocked out early")


def watch(table: Table, browser: Client, since: int, more: str = "", deal: int = 1) -> GamePage:
    return GamePage.of(browser, table.game, f"?since={since}&deal={deal}{more}", fragment=True)


def owner(table: Table, seat: int) -> Client:
    """Return the browser of the owner of a seat."""
    user = table.seats[seat].user
    assert user is not None
    return logged_in(user)


def test_each_fetch_shows_one_move_more_until_the_present(
    over: Table, as_bob: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    out = knocked_out(over)[1]
    shown, since = [], out - 2
    while since < over.game.version:
        with django_assert_max_num_queries(11):
            page = watch(over, as_bob, since)
        since = page.version
        shown.append(since)
        assert page.goes_on == page.has(id="skip-to-end") == (since < over.game.version)
        assert page.has(id="over") == (since == over.game.version)
    assert shown == list(range(out, over.game.version + 1))


def test_a_new_owner_of_the_seat_sees_the_present(over: Table) -> None:
    Hand.objects.filter(round=over.started.round, seat__index=1).update(lost=[])  # as when the seat is given away
    assert past_table.next_step(now_of(over), 1, since=0, deal=1, now=NOON) is None


def test_the_hand_that_was_lost_is_what_the_player_held(over: Table, alice: User, bob: User, as_bob: Client) -> None:
    step = past_table.next_step(over, 1, since=0, deal=1, now=NOON)
    assert step is not None
    assert step.table.game.version == knocked_out(over)[1]
    lost = queries.view_of(step.table, bob).lost
    assert lost is not None
    assert len(lost.faces) == over.options.mercy_limit
    assert queries.view_of(step.table, alice).lost is None
    part = watch(over, as_bob, 0).one(id="lost-hand")
    named = [rules.card_name(face) for face in sorted_hand(lost.faces, "color")]
    assert [name.text for name in part.iter("span") if name.get("class") == "sr"] == named
    assert sorted(lost.faces) == sorted(held_at_the_end(over, 1))


def held_at_the_end(table: Table, seat: int) -> list[str]:
    """Follow a seat's cards by the rules: its hand before the last move, and what is new in the pile set aside."""
    n = knocked_out(table)[seat]
    lines = list(Move.objects.filter(game=table.game, n__lte=n).order_by("n").values_list("seat", "text"))
    shuffle = rules.Shuffler(bytes(table.started.round.secret)).shuffle
    position = rules.deal(table.options, 3, shuffle, dealer=table.started.round.dealer)
    for mover, text in lines:
        before = position
        position, _ = rules.apply(position, mover, rules.parse_move(text), table.options, shuffle)
    aside = list(position.set_aside)
    for card in before.set_aside:
        aside.remove(card)
    return aside


def test_nobody_but_the_player_who_is_out_watches(over: Table, charlie: User, as_bob: Client) -> None:
    out, end = knocked_out(over)[1], over.game.version
    present = [
        *(watch(over, browser, out) for browser in (logged_in(charlie), Client())),
        *(watch(over, as_bob, out, "&skip=1"), watch(over, as_bob, out, deal=2), watch(over, as_bob, 10**9)),
    ]
    assert [page.version for page in present] == [end] * 5
    assert GamePage.of(as_bob, over.game).has(id="over")


def test_a_watched_moment_shows_no_hidden_card(over: Table, bob: User) -> None:
    for n in range(knocked_out(over)[1], over.game.version):
        step = past_table.next_step(over, 1, since=n - 1, deal=1, now=NOON)
        assert step is not None
        view = queries.view_of(step.table, bob)
        assert view.view is not None
        assert (view.version, view.status, view.winner) == (n, "playing", None)
        assert (view.view.hands, view.view.hand, view.my_turn) == (None, (), False)
        assert sum(seat.score for seat in view.seats) == 0
        assert queries.log_of(step.table, bob)[-1].n == n


@pytest.mark.long
def test_a_round_before_is_watched_to_its_end_while_the_next_one_runs(match: tuple[Table, int]) -> None:
    table, seat = match
    browser, end = owner(table, seat), table.started.round.from_version
    since, pages = knocked_out(table)[seat], []
    while since < end:
        pages.append(watch(table, browser, since))
        since = pages[-1].version
    assert all(page.has(data_deal="1") for page in pages)
    assert ("wins round 1" in pages[-1].text, pages[-1].goes_on) == (True, True)
    present = watch(table, browser, end)
    assert (present.has(data_deal="2"), present.goes_on) == (True, False)


@pytest.mark.long
@pytest.mark.parametrize("seconds", [30, 3600, None])
def test_a_turn_that_waits_is_said_and_ends_the_watching_in_time(match: tuple[Table, int], seconds: int | None) -> None:
    table, seat = match
    deadline = None if seconds is None else timezone.now() + timedelta(seconds=seconds)
    Game.objects.filter(pk=table.game.pk).update(deadline=deadline)
    Round.objects.filter(pk=table.started.round.pk).update(turn=seat)
    page = watch(table, owner(table, seat), knocked_out(table)[seat])
    assert page.has(data_deal="2") == (seconds == 30)
    assert ("Skip to my next turn" in page.text) == (seconds != 30)


def test_a_long_round_and_a_faulty_log_show_the_present(
    over: Table, as_bob: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    out = knocked_out(over)[1]
    with monkeypatch.context() as short:
        short.setattr(past_table, "LONG", 5)
        assert watch(over, as_bob, out).version == over.game.version
    Move.objects.filter(game=over.game, n=1).update(text="take")
    assert watch(over, as_bob, out).version == over.game.version
    assert "a game does not replay" in caplog.text


def test_a_player_who_is_out_sees_the_lost_hand_on_a_whole_page_too(
    alice: User, bob: User, charlie: User, as_alice: Client, as_bob: Client
) -> None:
    table = table_after([alice, bob, charlie], 23, seed=3)
    assert set(knocked_out(table)) == {1}
    pages = [GamePage.of(browser, table.game) for browser in (as_bob, as_alice)]
    assert ["The hand you lost" in page.text for page in pages] == [True, False]
    assert not pages[0].has(id="skip-to-end")
