"""Profiles: what everybody may see of a person, shared tables, and reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actions import create_guest
from accounts.models import User
from games.actions import deletion, lobby
from games.models import Game, Move, Report, Seat
from games.queries import profiles
from tests.conftest import logged_in
from tests.support.pages import text_of
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

pytestmark = pytest.mark.django_db

SENTENCE = "They wrote rude words as their name."


def finished(people: list[User | str], *, winner: int, **fields: Any) -> Game:
    game = table_after(people, 10_000, seed=3, **fields).game
    Game.objects.filter(pk=game.pk).update(winner=winner)
    return game


def test_a_profile_shows_since_when_and_how_well_a_person_plays(alice: User, bob: User, client: Client) -> None:
    User.objects.filter(pk=bob.pk).update(date_joined=timezone.now().replace(year=2025, month=3, day=9))
    finished([alice, bob], winner=1)
    finished([bob, "careful"], winner=0, is_public=False)
    finished([alice, bob], winner=0)
    table_at(TWO_HANDS, [alice, bob])
    text = text_of(client.get("/people/bob/"))
    assert "Member since March 2025." in text
    assert "Games finished 3" in text
    assert "Games won 1" in text


def lines(game: Game, *texts: str, seat: int, by_bot: bool = False) -> None:
    first = Move.objects.filter(game=game).count() + 1
    Move.objects.bulk_create(
        Move(game=game, round=game.round, n=first + n, seat=seat, text=text, at=NOON, by_bot=by_bot)
        for n, text in enumerate(texts)
    )


@pytest.mark.parametrize(
    ("theirs", "by_bot", "won"),
    [
        (["draw", "pass"], False, 1),
        (["draw"], False, 0),
        (["draw", "leave"], False, 0),
        (["clock draw", "clock draw", "draw"], False, 0),
        (["draw", "draw"], True, 0),
    ],
)
def test_a_win_counts_once_everybody_has_moved_twice(
    alice: User, bob: User, theirs: list[str], *, by_bot: bool, won: int
) -> None:
    game = table_at({**TWO_HANDS, "hands": [["r5"], ["b1"], ["g1"]]}, [alice, bob, "careful"]).game
    lines(game, "draw", "play r5", seat=0)
    lines(game, *theirs, seat=1, by_bot=by_bot)
    Game.objects.filter(pk=game.pk).update(status=Game.Status.OVER, winner=0)
    assert profiles.stats_of(alice) == (1, won)
    deletion.ask(user=bob, now=NOON)
    deletion.delete(user_id=bob.pk, now=NOON + timedelta(days=14))
    assert profiles.stats_of(alice) == (1, won)


def test_a_visitor_sees_only_public_tables_and_no_mail_address(alice: User, bob: User, client: Client) -> None:
    shown, hidden = table_at(TWO_HANDS, [alice, bob]), table_at(TWO_HANDS, [alice, bob], is_public=False)
    left = table_at(TWO_HANDS, [alice, bob])
    Seat.objects.filter(game=left.game, user=bob).update(left=True)
    page = client.get("/people/bob/").content.decode()
    assert f"/games/{shown.game.code}/" in page
    assert f"/games/{hidden.game.code}/" not in page
    assert f"/games/{left.game.code}/" not in page
    assert "@" not in page


def test_a_profile_lists_private_tables_shared_with_the_reader(
    as_alice: Client, alice: User, bob: User, charlie: User
) -> None:
    both = table_at(TWO_HANDS, [alice, bob], is_public=False)
    page = as_alice.get("/people/bob/")
    assert "Tables you share (1)" in text_of(page)
    assert f"/games/{both.game.code}/" in page.content.decode()
    assert f"/games/{both.game.code}/" not in logged_in(charlie).get("/people/bob/").content.decode()


def test_your_own_profile_links_to_the_account_and_has_no_report(as_alice: Client) -> None:
    page = as_alice.get("/people/alice/")
    assert 'href="/accounts/me/"' in page.content.decode()
    assert "Report" not in text_of(page)
    assert as_alice.get("/people/alice/report/").headers["Location"] == "/people/alice/"


def test_a_guest_has_a_page_too(client: Client) -> None:
    guest = create_guest()
    assert "Guest since" in text_of(client.get(f"/people/{guest.username}/"))


@pytest.mark.parametrize("rest", ["", "report/"])
def test_a_closed_account_has_a_page_that_says_so(as_alice: Client, alice: User, bob: User, rest: str) -> None:
    finished([alice, bob], winner=1)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    page = as_alice.get(f"/people/bob/{rest}")
    assert page.status_code == 410
    assert "This account is closed" in text_of(page)
    assert "Member since" not in text_of(page)


@pytest.mark.parametrize("name", ["nobody", "..", "a b", "%00", "é" * 200])
def test_a_profile_of_nobody_is_not_found(client: Client, name: str) -> None:
    assert client.get(f"/people/{name}/").status_code == 404


def test_a_report_from_a_profile_names_a_shared_game(as_alice: Client, alice: User, bob: User) -> None:
    older, newer = finished([alice, bob], winner=1), table_at(TWO_HANDS, [bob, alice]).game
    page = as_alice.get("/people/bob/report/").content.decode()
    assert page.index(newer.code) < page.index(older.code)
    assert f"playing ({newer.code})" in page
    assert ", with bob, from" in page
    assert f"over ({older.code})" in page
    form = {"game": older.code, "kind": "name", "text": SENTENCE}
    assert as_alice.post("/people/bob/report/", form).headers["Location"] == "/reports/"
    report = Report.objects.get()
    assert (report.game, report.case.person, report.reporter, report.text) == (older, bob, alice, SENTENCE)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [({"game": "elsewhere"}, "Select a valid choice."), ({"text": "Rude."}, "at least"), ({"kind": ""}, "required")],
)
def test_an_incomplete_report_says_what_is_missing(
    as_alice: Client, alice: User, bob: User, wrong: dict[str, str], why: str
) -> None:
    form = {"game": table_at(TWO_HANDS, [alice, bob]).game.code, "kind": "name", "text": SENTENCE, **wrong}
    answer = as_alice.post("/people/bob/report/", form)
    assert answer.status_code == 422
    assert why in text_of(answer)
    assert not Report.objects.exists()


def test_a_report_cannot_be_about_a_game_of_others(as_alice: Client, alice: User, bob: User, charlie: User) -> None:
    table_at(TWO_HANDS, [alice, bob])
    theirs = table_at(TWO_HANDS, [bob, charlie]).game
    form = {"game": theirs.code, "kind": "name", "text": SENTENCE}
    assert as_alice.post("/people/bob/report/", form).status_code == 422
    assert not Report.objects.exists()


def test_without_a_shared_game_the_page_says_where_to_report(as_alice: Client, bob: User) -> None:
    assert "you have never shared a table with bob" in text_of(as_alice.get("/people/bob/report/"))


def test_with_many_shared_games_the_page_says_where_to_report_the_rest(
    as_alice: Client, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "SHOWN", 2)
    said = "Only 2 games are listed: games in progress first, then the newest. For any other game, open"
    for more in (False, True, True):
        table_at(TWO_HANDS, [alice, bob])
        page = as_alice.get("/people/bob/report/")
        assert (said in text_of(page)) is more
    assert page.content.decode().count('name="game"') == 2


def test_search_engines_may_not_index_a_profile(client: Client, bob: User) -> None:
    mark = '<meta name="robots" content="noindex">'
    assert mark in client.get("/people/bob/").content.decode()
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert mark in client.get("/people/bob/").content.decode()
    assert mark not in client.get("/").content.decode()


def test_names_of_people_link_to_their_profiles(as_alice: Client, alice: User, bob: User) -> None:
    waiting = lobby.create_table(user=alice, options=lobby.TableOptions(players=4, bots=2), now=timezone.now()).game
    going, over = table_at(TWO_HANDS, [alice, bob]).game, finished([alice, bob], winner=1)
    for url in (f"/games/{going.code}/", f"/games/{going.code}/log/", f"/games/{over.code}/"):
        assert 'href="/people/bob/"' in as_alice.get(url).content.decode(), url
    lobby_page = as_alice.get(f"/games/{waiting.code}/").content.decode()
    assert lobby_page.count('href="/people/') == 1
    assert 'href="/people/alice/"' in lobby_page


def test_the_name_of_a_deleted_person_has_no_link(as_alice: Client, alice: User, bob: User) -> None:
    going = table_at(TWO_HANDS, [alice, bob]).game
    Seat.objects.filter(game=going, user=bob).update(user=None, bot="careful")
    page = as_alice.get(f"/games/{going.code}/")
    assert 'href="/people/bob/"' not in page.content.decode()
    assert "bob" in text_of(page)


def test_shared_tables_are_distinguished_and_a_cut_list_says_so(
    as_alice: Client, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in (1, 2):
        game = table_at(TWO_HANDS, [alice, bob]).game
        Game.objects.filter(pk=game.pk).update(started_at=NOON.replace(day=day))
    page = text_of(as_alice.get("/people/bob/"))
    assert "from 1 November 2026, 12:00" in page
    assert "from 2 November 2026, 12:00" in page
    assert "are listed" not in page
    monkeypatch.setattr(profiles, "SHOWN", 2)
    assert "Only 2 are listed" in text_of(as_alice.get("/people/bob/"))


def test_a_profile_with_many_tables_takes_no_more_queries(
    as_alice: Client, alice: User, bob: User, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    for n in range(4):
        table_at(TWO_HANDS, [alice, bob] if n % 2 else [bob, "careful"])
    with django_assert_max_num_queries(7):
        as_alice.get("/people/bob/")
