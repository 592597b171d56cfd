"""What a player who is out of a round watches."""

from __future__ import annotations

import random
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from games import queries, rules
from games.actions import lobby
from games.actions.play import play_move
from games.models import Game, Hand, Move
from games.queries import Table, Viewer, watching
from games.render.table import sorted_hand
from tests.conftest import logged_in
from tests.support.pages import text_of
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
    options = lobby.TableOptions(players=4, target=5000, options={"mercy_limit": 10}, public=False)
    for seed in range(50):
        rng = random.Random(seed)
        table = lobby.create_table(user=alice, options=options, now=NOON)
        for user in people[1:]:
            lobby.join(code=table.game.code, viewer=Viewer(user, [table.game.invite_key]), now=NOON)
        while (here := now_of(table)).game.round is None or here.started.round.number == 1:
            position = here.started.position
            move = rng.choice(rules.legal_moves(position, position.turn, here.options))
            play_move(
                code=here.game.code,
                viewer=Viewer(people[position.turn]),
                text=str(move),
                version=here.game.version,
                now=NOON,
            )
        early = [seat for seat, n in knocked_out(here).items() if n < here.game.version - 3]
        if early:
            Game.objects.filter(pk=here.game.pk).update(deadline=None)
            return here, early[0]
        Game.objects.filter(pk=here.game.pk).update(status=Game.Status.VOID)
    raise AssertionError("nobody was knocked out early")


def watch(table: Table, browser: Client, since: int, more: str = "", deal: int = 1) -> str:
    url = f"/games/{table.game.code}/?since={since}&deal={deal}{more}"
    return browser.get(url, headers={"HX-Request": "true"}).content.decode()


def version_of(page: str) -> int:
    found = re.search(r'data-version="(\d+)"', page)
    assert found
    return int(found[1])


def test_each_fetch_shows_one_move_more_until_the_present(over: Table, bob: User) -> None:
    browser, out = logged_in(bob), knocked_out(over)[1]
    shown, since = [], out - 2
    while since < over.game.version:
        page = watch(over, browser, since)
        since = version_of(page)
        shown.append(since)
        assert ("data-more" in page) == (since < over.game.version)
        assert ('id="skip-to-end"' in page) == (since < over.game.version)
        assert ('id="over"' in page) == (since == over.game.version)
    assert shown == list(range(out, over.game.version + 1))


def test_a_new_owner_of_the_seat_sees_the_present(over: Table) -> None:
    Hand.objects.filter(round=over.started.round, seat__index=1).update(lost=[])  # as when the seat is given away
    assert watching.next_step(now_of(over), 1, since=0, deal=1, now=NOON) is None


def test_the_hand_that_was_lost_is_what_the_player_held(over: Table, alice: User, bob: User) -> None:
    step = watching.next_step(over, 1, since=0, deal=1, now=NOON)
    assert step is not None
    assert step.table.game.version == knocked_out(over)[1]
    lost = queries.view_of(step.table, bob).lost
    assert lost is not None
    assert len(lost.faces) == over.options.mercy_limit
    assert queries.view_of(step.table, alice).lost is None
    page = watch(over, logged_in(bob), 0)
    part = page.split('id="lost-hand"')[1].split("</section>")[0]
    named = [rules.card_name(face) for face in sorted_hand(lost.faces, "color")]
    assert re.findall(r'<span class="sr">([^<]*)', part) == named
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


def test_nobody_but_the_player_who_is_out_watches(over: Table, alice: User, bob: User, charlie: User) -> None:
    out, end = knocked_out(over)[1], over.game.version
    assert version_of(watch(over, logged_in(charlie), out)) == end
    assert version_of(watch(over, Client(), out)) == end
    assert version_of(watch(over, logged_in(bob), out, "&skip=1")) == end
    assert 'id="over"' in logged_in(bob).get(f"/games/{over.game.code}/").content.decode()
    assert version_of(watch(over, logged_in(bob), out, deal=2)) == end
    assert version_of(watch(over, logged_in(bob), 10**9)) == end


def test_a_watched_moment_shows_no_hidden_card(over: Table, bob: User) -> None:
    out = knocked_out(over)[1]
    for n in range(out, over.game.version):
        step = watching.next_step(over, 1, since=n - 1, deal=1, now=NOON)
        assert step is not None
        view = queries.view_of(step.table, bob)
        assert (view.version, view.status, view.winner) == (n, "playing", None)
        assert view.view is not None
        assert (view.view.hands, view.view.hand, view.my_turn) == (None, (), False)
        assert sum(seat.score for seat in view.seats) == 0
        lines = queries.log_of(step.table, bob)
        assert lines[-1].n == n


@pytest.mark.long
def test_a_round_before_is_watched_to_its_end_while_the_next_one_runs(match: tuple[Table, int]) -> None:
    table, seat = match
    user = table.seats[seat].user
    assert user is not None
    browser, end = logged_in(user), table.started.round.from_version
    since, pages = knocked_out(table)[seat], []
    while since < end:
        pages.append(watch(table, browser, since))
        since = version_of(pages[-1])
    assert all('data-deal="1"' in page for page in pages)
    assert "wins round 1" in pages[-1]
    assert "data-more" in pages[-1]
    present = watch(table, browser, end)
    assert 'data-deal="2"' in present
    assert "data-more" not in present


@pytest.mark.long
@pytest.mark.parametrize("seconds", [30, 3600, None])
def test_a_turn_that_waits_is_said_and_ends_the_watching_in_time(match: tuple[Table, int], seconds: int | None) -> None:
    table, seat = match
    user = table.seats[seat].user
    assert user is not None
    deadline = None if seconds is None else timezone.now() + timedelta(seconds=seconds)
    Game.objects.filter(pk=table.game.pk).update(deadline=deadline)
    table.started.round.turn = seat
    table.started.round.save(update_fields=["turn"])
    page = watch(table, logged_in(user), knocked_out(table)[seat])
    if seconds == 30:
        assert 'data-deal="2"' in page
    else:
        assert "Skip to the end: it’s your turn" in page


def test_a_long_round_and_a_faulty_log_show_the_present(
    over: Table, bob: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    out = knocked_out(over)[1]
    monkeypatch.setattr(watching, "LONG", 5)
    assert version_of(watch(over, logged_in(bob), out)) == over.game.version
    monkeypatch.undo()
    Move.objects.filter(game=over.game, n=1).update(text="take")
    assert version_of(watch(over, logged_in(bob), out)) == over.game.version
    assert "a game does not replay" in caplog.text


def test_a_player_who_is_out_sees_the_lost_hand_on_a_whole_page_too(
    alice: User, bob: User, charlie: User, mo: User
) -> None:
    table = table_after([alice, bob, charlie], 23, seed=3)
    assert set(knocked_out(table)) == {1}
    page = logged_in(bob).get(f"/games/{table.game.code}/")
    assert "The hand you lost" in text_of(page)
    assert 'id="skip-to-end"' not in page.content.decode()
    assert "The hand you lost" not in text_of(logged_in(alice).get(f"/games/{table.game.code}/"))


def test_watching_takes_few_statements(
    over: Table, bob: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser = logged_in(bob)
    with django_assert_max_num_queries(10):
        watch(over, browser, knocked_out(over)[1])
