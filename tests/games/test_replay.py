"""The replay of a finished game: every frame has an address and shows what the chosen seat saw."""

from __future__ import annotations

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
from tests.support.api import Program, refusal
from tests.support.pages import Page, open_table, text_of
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

FOREVER = 10_000


@pytest.fixture
def over(alice: User, bob: User) -> Table:
    """A finished game of alice, bob and a bot."""
    return table_after([alice, bob, "careful"], FOREVER, seed=3)


@pytest.fixture
def match(alice: User, bob: User) -> Table:
    return match_of(alice, bob)


def match_of(alice: User, bob: User) -> Table:
    """Play a match of several short rounds to its end."""
    options = lobby.TableChoices(players=2, target=300, options={"hand_size": 2, "mercy_limit": 10}, public=False)
    table = lobby.create_table(user=alice, choices=options, now=NOON)
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
    return next((found.get("href") for found in Page(answer).all("a", id=f"step-{name}")), None)


def cards_shown(answer: Any) -> list[list[str]]:
    """Return the names of the cards in each hand on the page, in alphabetical order."""
    part = answer.content.decode().split('id="hands"')[1].split("</section>")[0]
    return [sorted(re.findall(r'<span class="sr">([^<,]*)', hand)) for hand in part.split("<h3>")[1:]]


def test_the_frames_of_a_match_lead_to_its_end_and_back(match: Table) -> None:
    step = replays.frame_at(match, 0)
    forth = [(step.n, step.round)]
    while step.after:
        step = replays.frame_at(match, *step.after)
        forth.append((step.n, step.round))
    rounds = match.started.round.number
    assert rounds > 1
    assert len(forth) == match.game.version + rounds
    assert step.position == match.started.position
    assert sum(result.outcome.gained(0) for result in step.results) == match.seats[0].score
    back = [(step.n, step.round)]
    while step.before:
        step = replays.frame_at(match, *step.before)
        back.append((step.n, step.round))
    assert back == forth[::-1]


@pytest.mark.long
def test_the_links_of_the_page_follow_the_frames(over: Table) -> None:
    browser = Client()
    answer = browser.get(at(over))
    assert "Round 1 is dealt" in text_of(answer)
    assert link(answer, "back") is None
    for n in range(1, over.game.version + 1):
        following = link(answer, "on")
        assert following is not None
        answer = browser.get(following)
        assert f"Move {n} of {over.game.version}" in text_of(answer)
    assert (link(answer, "on"), link(answer, "last")) == (None, None)
    assert "500 points. Bot 2 wins " in text_of(answer)
    fetched = browser.get(at(over, n=1), headers={"HX-Request": "true"})
    assert f"Move 1 of {over.game.version}." in fetched.headers["HX-Trigger"]


@pytest.mark.long
def test_a_replay_from_a_seat_shows_only_its_own_cards(over: Table, as_alice: Client) -> None:
    for n in range(0, over.game.version, 7):
        named = [sorted(map(rules.card_name, hand)) for hand in replays.frame_at(over, n).position.hands]
        assert cards_shown(as_alice.get(at(over, n=n))) == named
        for seat in range(3):
            assert cards_shown(as_alice.get(at(over, n=n, seat=seat))) == [named[seat]]


@pytest.mark.long
def test_the_log_from_a_seat_has_no_cards_it_did_not_know_and_addresses_the_reader(
    over: Table, as_alice: Client, as_bob: Client
) -> None:
    lines = [replays.frame_at(over, n).lines[-1] for n in range(1, over.game.version + 1)]
    theirs = next(line for line in lines if line.seat == 1 and line.events[0].kind == "drew")
    drawn = rules.sentence(theirs.events[0], None, over.names).removeprefix("bob ")
    shown = [drawn in text_of(as_alice.get(at(over, n=theirs.n, **seat))) for seat in ({}, {"seat": 1}, {"seat": 0})]
    assert shown == [True, True, False]
    mine = next(line.n for line in lines if line.seat == 0 and line.text.startswith("play"))
    assert "You play" in text_of(as_alice.get(at(over, n=mine)))
    assert "alice plays" in text_of(as_bob.get(at(over, n=mine)))


def test_an_address_without_a_frame_shows_the_nearest_one(over: Table) -> None:
    last = str(over.game.version)
    for query, n in (
        *(("n=999999999", last), ("n=-3", "0"), ("n=two", "0"), ("n=%C2%B2", "0"), ("n=99999999999", "0")),
        *(("seat=9", "0"), ("round=7", "0")),
    ):
        page = Page(Client().get(f"/games/{over.game.code}/replay/?{query}"))
        field = page.one("input", name="n", type="number")
        assert (page.status, field.get("max"), field.get("value")) == (200, last, n), query


def test_only_a_finished_game_can_be_replayed(alice: User, bob: User, as_alice: Client) -> None:
    running = table_at(TWO_HANDS, [alice, bob])
    for game in (running.game, open_table(alice)):
        answer = as_alice.get(f"/games/{game.code}/replay/")
        assert (answer.status_code, "A game can be replayed once it is over." in text_of(answer)) == (404, True)
    with pytest.raises(Denied) as denied:
        replays.frame_at(running, 0)
    assert denied.value.code == "not_found"


def test_a_game_that_was_called_off_in_mid_round_is_replayed_up_to_there(
    alice: User, bob: User, ann: User, as_alice: Client
) -> None:
    table = table_after([alice, bob, "careful"], 9, seed=8)
    tables.void_game(game_id=table.game.pk, by=ann, reason="To see what happens", now=timezone.now())
    first, last = as_alice.get(at(table)), as_alice.get(at(table, n=9))
    assert (first.status_code, last.status_code, link(last, "on")) == (200, 200, None)


def test_the_replay_of_a_private_table_is_hidden_from_outsiders(alice: User, bob: User, charlie: User) -> None:
    table = table_after([alice, bob], FOREVER, seed=3, is_public=False)
    for browser in (Client(), logged_in(charlie)):
        assert browser.get(at(table)).status_code == 404
    assert logged_in(bob).get(at(table)).status_code == 200


@pytest.mark.long
def test_every_frame_takes_the_same_number_of_queries(
    match: Table, as_alice: Client, django_assert_max_num_queries: Any
) -> None:
    for n in (0, match.game.version // 2, match.game.version):
        with django_assert_max_num_queries(9):
            assert as_alice.get(at(match, n=n, seat=1)).status_code == 200


def test_a_finished_game_and_its_log_link_to_the_replay(over: Table, alice: User, bob: User, as_alice: Client) -> None:
    game, running = over.game.get_absolute_url(), table_at(TWO_HANDS, [alice, bob]).game.get_absolute_url()
    assert Page(as_alice.get(game)).one(id="replay").get("href") == f"{game}replay/"
    assert Page(as_alice.get(f"{game}log/")).links_to(f"{game}replay/?n=3")
    assert "replay" not in as_alice.get(f"{running}log/").content.decode()


def test_a_player_is_shown_as_left_only_after_leaving(over: Table, alice: User) -> None:
    Seat.objects.filter(game=over.game, index=1).update(left=True)
    table = now_of(over)
    assert not replays.view_at(table, replays.frame_at(table, 1), alice, 0).seats[1].left


def test_a_log_that_does_not_replay_gets_an_error_page(
    as_alice: Client, over: Table, caplog: pytest.LogCaptureFixture
) -> None:
    Move.objects.filter(game=over.game, n=1).update(text="take")
    for page in ("replay/?n=1", "record/"):
        answer = as_alice.get(f"/games/{over.game.code}/{page}")
        assert (answer.status_code, "its record is damaged" in text_of(answer)) == (404, True)
        assert "a game does not replay" in caplog.text
        caplog.clear()


@pytest.mark.parametrize("page", ["replay/?n=999", "record/"])
def test_only_one_long_game_is_replayed_at_a_time(
    as_alice: Client, over: Table, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, long = f"/games/{over.game.code}/{page}", over.game.version
    monkeypatch.setattr(replays, "LONG", long)
    assert as_alice.get(address).status_code == 200
    with replays.one_at_a_time(long):
        answer = as_alice.get(address)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        assert "Try again in a few seconds" in text_of(answer)
        assert as_alice.get(at(over, n=long - 1)).status_code == 200
    assert as_alice.get(address).status_code == 200


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
    alice: User, over: Table, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, path, long = Program(alice), f"games/{over.game.code}", over.game.version
    monkeypatch.setattr(replays, "LONG", long)
    with replays.one_at_a_time(long):
        answer = program.get(f"{path}/{call}")
        assert (refusal(answer), answer.headers["Retry-After"]) == ((503, "busy"), "2")
        assert program.get(f"{path}/moves", limit=long - 1).status_code == 200
    assert program.get(f"{path}/{call}").status_code == 200


@pytest.mark.long
def test_the_chart_has_the_counts_of_each_step_whatever_view_is_chosen(over: Table, alice: User) -> None:
    courses = set()
    for n, seat in ((0, None), (7, 1), (over.game.version, 2)):
        step = replays.frame_at(over, n)
        courses.add(step.course)
        view = replays.view_at(over, step, alice, seat)
        chart = replay_of(step, view, seat=seat, options=over.options, now=NOON).chart
        assert chart is not None
        held = {line.name: int(line.now.split()[0]) for line in chart.lines}
        assert [held[name] for name in view.names] == [len(hand) for hand in step.position.hands]
        assert [line.name for line in chart.lines if line.chosen] == ([] if seat is None else [view.names[seat]])
        assert [row.n for row in chart.rows if row.here] == [n]
    (course,) = courses
    assert [counts.n for counts in course] == list(range(over.game.version + 1))
    for counts in course:
        position = replays.frame_at(over, counts.n).position
        assert counts.cards == tuple(map(len, position.hands))
        assert counts.stack == (position.pending.total if position.pending else 0)


def test_a_round_without_moves_and_a_very_long_one_have_no_chart(
    over: Table, alice: User, bob: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(replays.frame_at(now_of(over), 3).course) == over.game.version + 1
    monkeypatch.setattr(replays, "LONG", over.game.version)
    assert replays.frame_at(now_of(over), 3).course == ()
    empty = table_after([alice, bob], 0, seed=3)
    Game.objects.filter(pk=empty.game.pk).update(status=Game.Status.VOID)
    for address in (at(over, n=3), at(empty)):
        assert "Cards held" not in text_of(as_alice.get(address))


@pytest.mark.long
def test_key_moments_lead_to_their_steps(match: Table, alice: User, as_alice: Client) -> None:
    step = replays.frame_at(match, 0)
    assert {"knocked_out", "lead"} <= {moment.kind for moment in step.moments}
    for link in moments_of(replays.view_at(match, step, alice, None), step.moments).links:
        page = Page(as_alice.get(link.url))
        assert f"Move {link.n} of {match.game.version}" in page.text
        assert any(part.get("aria-current") == "step" for part in page.one(id="moments").iter())
        assert link.kind != "knocked_out" or replays.frame_at(match, link.n).position.out


def test_a_very_long_match_has_no_key_moments(
    match: Table, as_alice: Client, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(key_moments, "LONGEST", match.game.version)
    assert replays.frame_at(match, 0).moments
    monkeypatch.setattr(key_moments, "LONGEST", match.game.version - 1)
    with django_assert_num_queries(0):
        assert key_moments.key_moments_of(match) == []
        assert key_moments.end_of_game(match) == key_moments.end_of_round(match, 1) == key_moments.ToldEnd()
        assert key_moments.feats_of(match) == ()
    assert replays.frame_at(match, 0).moments == ()
    assert "Key moments" not in text_of(as_alice.get(match.game.get_absolute_url()))


def test_a_page_lists_at_most_40_key_moments_and_keeps_changes_of_the_lead(match: Table, alice: User) -> None:
    view = replays.view_at(match, replays.frame_at(match, 0), alice, None)
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
    assert link.text == "You take a stack of 10. No mercy: you are out."
    assert link.kind == "knocked_out"  # the gravest, which decides the colour of the mark
