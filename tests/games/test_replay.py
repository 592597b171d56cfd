"""The replay of a finished game: every frame has an address and shows what the chosen seat saw."""

from __future__ import annotations

import html
import random
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import rules
from games.actions import lobby
from games.actions.play import play_move
from games.api import routes
from games.models import Game, Move, Seat
from games.queries import Table, Viewer, key_moments, replays, view_of
from games.refusals import Denied
from games.render.key_moments import moments_of
from games.render.replay import replay_of
from games.staff import tables
from tests.conftest import logged_in
from tests.support.pages import open_table, text_of
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

FOREVER = 10_000


def match_of(alice: User, bob: User) -> Table:
    """Play a match of several short rounds to its end."""
    options = lobby.TableOptions(players=2, target=300, options={"hand_size": 2, "mercy_limit": 10}, public=False)
    table = lobby.create_table(user=alice, options=options, now=NOON)
    lobby.join(code=table.game.code, viewer=Viewer(bob, [table.game.invite_key]), now=NOON)
    rng = random.Random(5)
    while (here := now_of(table)).game.status == Game.Status.PLAYING:
        position = here.started.position
        move = rng.choice(rules.legal_moves(position, position.turn, here.options))
        user = (alice, bob)[position.turn]
        play_move(code=here.game.code, viewer=Viewer(user), text=str(move), version=here.game.version, now=NOON)
    return here


def at(table: Table, **query: int) -> str:
    return f"/games/{table.game.code}/replay/?{urlencode(query)}"


def link(answer: Any, name: str) -> str | None:
    """Return the address of a link on the page, or None."""
    found = re.search(rf'id="step-{name}" href="([^"]*)"', answer.content.decode())
    return html.unescape(found[1]) if found else None


def cards_shown(answer: Any) -> list[list[str]]:
    """Return the names of the cards in each hand on the page."""
    part = answer.content.decode().split('id="hands"')[1].split("</section>")[0]
    return [re.findall(r'<span class="sr">([^<,]*)', hand) for hand in part.split("<h3>")[1:]]


def test_the_frames_of_a_match_lead_to_its_end_and_back(alice: User, bob: User) -> None:
    table = match_of(alice, bob)
    step = replays.frame_at(table, 0)
    forth = [(step.n, step.round)]
    while step.after:
        step = replays.frame_at(table, *step.after)
        forth.append((step.n, step.round))
    rounds = table.started.round.number
    assert rounds > 1
    assert len(forth) == table.game.version + rounds
    assert step.position == table.started.position
    assert sum(result.outcome.gained(0) for result in step.results) == table.seats[0].score
    back = [(step.n, step.round)]
    while step.before:
        step = replays.frame_at(table, *step.before)
        back.append((step.n, step.round))
    assert back == forth[::-1]


@pytest.mark.long
def test_the_links_of_the_page_follow_the_frames(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    browser = Client()
    answer = browser.get(f"/games/{table.game.code}/replay/")
    assert "Round 1 is dealt" in text_of(answer)
    assert link(answer, "back") is None
    for n in range(1, table.game.version + 1):
        following = link(answer, "on")
        assert following is not None
        answer = browser.get(following)
        assert f"Move {n} of {table.game.version}" in text_of(answer)
    assert (link(answer, "on"), link(answer, "last")) == (None, None)
    assert "wins the game" in text_of(answer)


@pytest.mark.long
def test_a_replay_from_a_seat_shows_only_its_own_cards(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    browser = logged_in(alice)
    for n in range(0, table.game.version, 7):
        hands = replays.frame_at(table, n).position.hands
        named = [sorted(map(rules.card_name, hand)) for hand in hands]
        assert [sorted(hand) for hand in cards_shown(browser.get(at(table, n=n)))] == named
        for seat in range(3):
            assert [sorted(hand) for hand in cards_shown(browser.get(at(table, n=n, seat=seat)))] == [named[seat]]


@pytest.mark.long
def test_the_log_from_a_seat_has_no_cards_it_did_not_know(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    steps = [replays.frame_at(table, n) for n in range(1, table.game.version + 1)]
    step = next(s for s in steps if s.lines[-1].seat == 1 and s.lines[-1].events[0].kind == "drew")
    cards = ", ".join(rules.card_name(card) for card in step.lines[-1].events[0].cards or ())
    browser = logged_in(alice)
    assert f"({cards})" in text_of(browser.get(at(table, n=step.n)))
    assert f"({cards})" in text_of(browser.get(at(table, n=step.n, seat=1)))
    assert f"({cards})" not in text_of(browser.get(at(table, n=step.n, seat=0)))


@pytest.mark.long
def test_the_log_of_a_replay_addresses_the_reader(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    lines = [replays.frame_at(table, n).lines[-1] for n in range(1, table.game.version + 1)]
    mine = next(line.n for line in lines if line.seat == 0 and line.text.startswith("play"))
    assert "You play" in text_of(logged_in(alice).get(at(table, n=mine)))
    assert "alice plays" in text_of(logged_in(bob).get(at(table, n=mine)))


@pytest.mark.parametrize(
    ("query", "n"),
    [
        *(("n=999999999", -1), ("n=-3", 0), ("n=two", 0), ("n=%C2%B2", 0), ("n=99999999999", 0)),
        *(("seat=9", 0), ("round=7", 0)),
    ],
)
def test_an_address_without_a_frame_shows_the_nearest_one(alice: User, bob: User, query: str, n: int) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    answer = Client().get(f"/games/{table.game.code}/replay/?{query}")
    wanted = n if n >= 0 else table.game.version
    assert answer.status_code == 200
    assert f'name="n" type="number" min="0" max="{table.game.version}" value="{wanted}"' in answer.content.decode()


def test_only_a_finished_game_can_be_replayed(alice: User, bob: User, as_alice: Client) -> None:
    running = table_at(TWO_HANDS, [alice, bob])
    for game in (running.game, open_table(alice)):
        assert as_alice.get(f"/games/{game.code}/replay/").status_code == 404
    with pytest.raises(Denied) as denied:
        replays.frame_at(running, 0)
    assert denied.value.code == "not_found"


def test_a_game_that_was_called_off_can_be_replayed(alice: User, bob: User) -> None:
    table = table_after([alice, bob], 9, seed=3)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.VOID)
    answer = logged_in(alice).get(at(table, n=9))
    assert (answer.status_code, link(answer, "on")) == (200, None)


def test_the_replay_of_a_private_table_is_hidden_from_outsiders(alice: User, bob: User, charlie: User) -> None:
    table = table_after([alice, bob], FOREVER, seed=3, is_public=False)
    for browser in (Client(), logged_in(charlie)):
        assert browser.get(at(table)).status_code == 404
    assert logged_in(bob).get(at(table)).status_code == 200


@pytest.mark.long
def test_every_frame_takes_the_same_number_of_queries(
    alice: User, bob: User, django_assert_max_num_queries: Any
) -> None:
    table = match_of(alice, bob)
    browser = logged_in(alice)
    for n in (0, table.game.version // 2, table.game.version):
        with django_assert_max_num_queries(9):
            assert browser.get(at(table, n=n, seat=1)).status_code == 200


def test_a_finished_game_and_its_log_link_to_the_replay(alice: User, bob: User, as_alice: Client) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    address = f"/games/{table.game.code}/replay/"
    assert f'href="{address}" id="replay"' in as_alice.get(f"/games/{table.game.code}/").content.decode()
    assert f'href="{address}?n=3"' in as_alice.get(f"/games/{table.game.code}/log/").content.decode()
    running = table_at(TWO_HANDS, [alice, bob])
    assert "replay" not in as_alice.get(f"/games/{running.game.code}/log/").content.decode()


def test_a_frame_fetched_by_htmx_is_announced(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    answer = Client().get(at(table, n=1), headers={"HX-Request": "true"})
    assert f"Move 1 of {table.game.version}." in answer.headers["HX-Trigger"]


def test_a_player_is_shown_as_left_only_after_leaving(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    Seat.objects.filter(game=table.game, index=1).update(left=True)
    table = now_of(table)
    view = replays.view_at(table, replays.frame_at(table, 1), alice, 0)
    assert not view.seats[1].left


def test_a_game_called_off_in_mid_round_is_replayed_up_to_there(alice: User, bob: User, ann: User) -> None:
    table = table_after([alice, bob, "careful"], 9, seed=8)
    tables.void_game(game_id=table.game.pk, by=ann, reason="To see what happens", now=timezone.now())
    for n in (0, 9):
        answer = logged_in(alice).get(at(table, n=n))
        assert answer.status_code == 200
    assert link(answer, "on") is None


@pytest.mark.parametrize("page", ["replay/?n=1", "record/"])
def test_a_log_that_does_not_replay_gets_an_error_page(
    as_alice: Client, alice: User, bob: User, ann: User, page: str, caplog: pytest.LogCaptureFixture
) -> None:
    table = table_after([alice, bob], 10_000, seed=3)
    Move.objects.filter(game=table.game, n=1).update(text="take")
    answer = as_alice.get(f"/games/{table.game.code}/{page}")
    assert answer.status_code == 404
    assert "does not follow from its deal" in text_of(answer)
    assert "a game does not replay" in caplog.text


def test_a_replay_before_the_end_says_when_it_is_available(as_alice: Client, alice: User, bob: User) -> None:
    answer = as_alice.get(at(table_at(TWO_HANDS, [alice, bob])))
    assert answer.status_code == 404
    assert "A game can be replayed once it is over." in text_of(answer)


@pytest.mark.parametrize("page", ["replay/?n=999", "record/"])
def test_only_one_long_game_is_replayed_at_a_time(
    as_alice: Client, alice: User, bob: User, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_after([alice, bob], 10_000, seed=3)
    code, long = table.game.code, table.game.version
    monkeypatch.setattr(replays, "LONG", long)
    assert as_alice.get(f"/games/{code}/{page}").status_code == 200
    with replays.one_at_a_time(long):
        answer = as_alice.get(f"/games/{code}/{page}")
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        assert "Try again in a few seconds" in text_of(answer)
        assert as_alice.get(at(table, n=long - 1)).status_code == 200
    assert as_alice.get(f"/games/{code}/{page}").status_code == 200


def test_the_api_lists_a_long_log_in_parts(
    as_alice: Client, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_after([alice, bob], 40, seed=1)
    assert table.game.version == 40
    monkeypatch.setattr(routes, "MOST_MOVES", 25)
    url = f"/api/v1/games/{table.game.code}/moves"
    first = as_alice.get(url).json()
    assert ([move["n"] for move in first["moves"]], first["version"]) == ([*range(1, 26)], 40)
    rest = as_alice.get(url, {"after": 25}).json()
    assert [move["n"] for move in rest["moves"]] == [*range(26, 41)]


@pytest.mark.parametrize("call", ["record", "moves"])
def test_the_api_returns_only_one_long_log_at_a_time(
    as_alice: Client, alice: User, bob: User, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_after([alice, bob], 10_000, seed=3)
    url, long = f"/api/v1/games/{table.game.code}", table.game.version
    monkeypatch.setattr(replays, "LONG", long)
    with replays.one_at_a_time(long):
        answer = as_alice.get(f"{url}/{call}")
        assert (answer.status_code, answer.json()["error"]) == (503, "busy")
        assert answer.headers["Retry-After"] == "2"
        assert as_alice.get(f"{url}/moves?limit={long - 1}").status_code == 200
    assert as_alice.get(f"{url}/{call}").status_code == 200


@pytest.mark.long
def test_the_chart_has_the_counts_of_each_step_whatever_view_is_chosen(alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], FOREVER, seed=3)
    courses = set()
    for n, seat in ((0, None), (7, 1), (table.game.version, 2)):
        step = replays.frame_at(table, n)
        courses.add(step.course)
        view = replays.view_at(table, step, alice, seat)
        chart = replay_of(step, view, seat=seat, options=table.options, now=NOON).chart
        assert chart is not None
        held = {line.name: int(line.now.split()[0]) for line in chart.lines}
        assert [held[name] for name in view.names] == [len(hand) for hand in step.position.hands]
        assert [line.name for line in chart.lines if line.chosen] == ([] if seat is None else [view.names[seat]])
        assert [row.n for row in chart.rows if row.here] == [n]
    (course,) = courses
    assert [counts.n for counts in course] == list(range(table.game.version + 1))
    for counts in course:
        position = replays.frame_at(table, counts.n).position
        assert counts.cards == tuple(map(len, position.hands))
        assert counts.stack == (position.pending.total if position.pending else 0)


def test_a_round_without_moves_and_a_very_long_one_have_no_chart(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_after([alice, bob], FOREVER, seed=3)
    assert len(replays.frame_at(now_of(table), 3).course) == table.game.version + 1
    monkeypatch.setattr(replays, "LONG", table.game.version)
    assert replays.frame_at(now_of(table), 3).course == ()
    assert "Cards held" not in text_of(logged_in(alice).get(at(table, n=3)))
    empty = table_after([alice, bob], 0, seed=3)
    Game.objects.filter(pk=empty.game.pk).update(status=Game.Status.VOID)
    assert "Cards held" not in text_of(logged_in(alice).get(at(empty)))


@pytest.mark.long
def test_key_moments_lead_to_their_steps(alice: User, bob: User) -> None:
    table = match_of(alice, bob)
    step = replays.frame_at(table, 0)
    kinds = {moment.kind for moment in step.moments}
    assert {"knocked_out", "lead"} <= kinds
    view = replays.view_at(table, step, alice, None)
    browser = logged_in(alice)
    for link in moments_of(view, step.moments).links:
        answer = browser.get(link.url)
        assert f"Move {link.n} of {table.game.version}" in text_of(answer)
        assert 'aria-current="step"' in answer.content.decode().split('id="moments"')[1].split("</section>")[0]
        if link.kind == "knocked_out":
            frame = replays.frame_at(table, link.n)
            assert frame.position.out


def test_a_very_long_match_has_no_key_moments(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    table = match_of(alice, bob)
    monkeypatch.setattr(key_moments, "LONGEST", table.game.version)
    assert replays.frame_at(table, 0).moments
    monkeypatch.setattr(key_moments, "LONGEST", table.game.version - 1)
    with django_assert_num_queries(0):
        assert key_moments.key_moments_of(table) == key_moments.moments_of_round(table, 1) == []
    assert replays.frame_at(table, 0).moments == ()
    assert "Key moments" not in text_of(logged_in(alice).get(table.game.get_absolute_url()))


def test_a_page_lists_at_most_40_key_moments_and_keeps_changes_of_the_lead(alice: User, bob: User) -> None:
    table = match_of(alice, bob)
    view = replays.view_at(table, replays.frame_at(table, 0), alice, None)
    stacks = [rules.KeyMoment(n, 1, "took_stack", 1, n) for n in range(10, 60)]
    shown = moments_of(view, [rules.KeyMoment(1, 1, "lead", 0, 57), rules.KeyMoment(2, 1, "knocked_out", 0), *stacks])
    assert [link.n for link in shown.links] == [1, 2, *range(22, 60)]
    assert shown.links[0].text == "You take the lead with 57 points."
    assert shown.more == "And 12 more moments."


def test_of_one_move_the_cause_comes_before_the_effect(alice: User, bob: User) -> None:
    hands = [[f"{color}{n}" for color in "rbgy" for n in range(1, 6)], ["W10", "r1"]]
    position = {"draw_pile": ["g9"] * 20, "discard_pile": ["r3"], "hands": hands, "turn": 1}
    table = table_at(position, [alice, bob])
    for user, text in ((bob, "play W10 color g"), (alice, "take")):
        version = now_of(table).game.version
        play_move(code=table.game.code, viewer=Viewer(user), text=text, version=version, now=NOON)
    ended = now_of(table)
    (link,) = moments_of(view_of(ended, alice), key_moments.key_moments_of(ended)).links
    assert link.text == "You take a stack of 10. You are out by the mercy rule."
    assert link.kind == "knocked_out"  # the gravest, which decides the colour of the mark
