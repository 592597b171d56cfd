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
from tests.support.pages import Page, text_of
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

pytestmark = pytest.mark.django_db

SENTENCE = "They wrote rude words as their name."


@pytest.fixture
def shared(alice: User, bob: User) -> Game:
    """A game of alice and bob."""
    return table_at(TWO_HANDS, [alice, bob]).game


def of_bob(browser: Client, rest: str = "") -> Page:
    return Page(browser.get(f"/people/bob/{rest}"))


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
    text = of_bob(client).text
    for said in ("Member since March 2025.", "Games against people 2", "Wins against people 1", "Games against bots 1"):
        assert said in text
    assert "against guests" not in text
    guest = create_guest()
    finished([bob, guest], winner=0)
    finished([bob, guest, alice], winner=0)
    assert profiles.stats_of(bob) == (3, 2, 1, 1)
    text = text_of(client.get(f"/people/{guest.username}/"))
    assert ("Guest since" in text, "Games against people 2" in text) == (True, True)


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
    assert profiles.stats_of(alice) == (1, won, 0, 0)
    deletion.ask(user=bob, now=NOON)
    deletion.delete(user_id=bob.pk, now=NOON + timedelta(days=14))
    assert profiles.stats_of(alice) == (1, won, 0, 0)


def test_a_visitor_sees_only_public_tables_and_a_player_also_private_ones_they_share(
    shared: Game, alice: User, bob: User, as_alice: Client, charlie: User, client: Client
) -> None:
    hidden, left = (table_at(TWO_HANDS, [alice, bob], is_public=public).game for public in (False, True))
    Seat.objects.filter(game=left, user=bob).update(left=True)
    for browser, listed in (
        (client, [True, False, False]), (logged_in(charlie), [True, False, False]), (as_alice, [True, True, True]),
    ):  # fmt: skip
        page = of_bob(browser)
        assert [bool(page.links_to(game.get_absolute_url())) for game in (shared, hidden, left)] == listed
        assert "@" not in page.html
    assert "Tables you share (3)" in of_bob(as_alice).text


def test_your_own_profile_links_to_the_account_and_has_no_report(as_alice: Client) -> None:
    page = Page(as_alice.get("/people/alice/"))
    assert page.links_to("/accounts/me/")
    assert "Report" not in page.text
    assert as_alice.get("/people/alice/report/").headers["Location"] == "/people/alice/"


def test_a_closed_account_has_a_page_that_says_so(as_alice: Client, alice: User, bob: User) -> None:
    finished([alice, bob], winner=1)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    for rest in ("", "report/"):
        page = of_bob(as_alice, rest)
        assert (page.status, "This account is closed" in page.text, "Member since" in page.text) == (410, True, False)


def test_a_profile_of_nobody_is_not_found_and_others_are_not_indexed(client: Client, bob: User) -> None:
    for name in ("nobody", "..", "a b", "%00", "é" * 200):
        assert client.get(f"/people/{name}/").status_code == 404, name
    assert of_bob(client).one("meta", name="robots").get("content") == "noindex"
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert of_bob(client).one("meta", name="robots").get("content") == "noindex"
    assert not Page(client.get("/")).has("meta", name="robots")


def test_a_report_from_a_profile_names_a_shared_game(as_alice: Client, alice: User, bob: User) -> None:
    older, newer = finished([alice, bob], winner=1), table_at(TWO_HANDS, [bob, alice]).game
    page = of_bob(as_alice, "report/")
    assert page.values("game") == [newer.code, older.code]
    for said in (f"playing · {newer.code}", " · with bob · from", f"over · {older.code}"):
        assert said in page.text
    form = {"game": older.code, "kind": "name", "text": SENTENCE}
    assert as_alice.post("/people/bob/report/", form).headers["Location"] == "/reports/"
    report = Report.objects.get()
    assert (report.game, report.case.person, report.reporter, report.text) == (older, bob, alice, SENTENCE)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"game": "elsewhere"}, "Select a valid choice."),
        ({"game": "theirs"}, "Select a valid choice."),
        ({"text": "Rude."}, "at least"),
        ({"kind": ""}, "required"),
    ],
)
def test_a_report_needs_a_shared_game_a_kind_and_a_text(
    as_alice: Client, shared: Game, bob: User, charlie: User, wrong: dict[str, str], why: str
) -> None:
    theirs = table_at(TWO_HANDS, [bob, charlie]).game
    form = {"game": shared.code, "kind": "name", "text": SENTENCE, **wrong}
    form["game"] = theirs.code if form["game"] == "theirs" else form["game"]
    answer = as_alice.post("/people/bob/report/", form)
    assert (answer.status_code, why in text_of(answer), Report.objects.count()) == (422, True, 0)


def test_without_a_shared_game_the_page_says_where_to_report(as_alice: Client, bob: User) -> None:
    assert "you have never shared a table with bob" in of_bob(as_alice, "report/").text


def test_a_cut_list_of_shared_games_says_so(
    as_alice: Client, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiles, "SHOWN", 2)
    cut = "Only 2 games are listed: games in progress first, then the newest. For any other game, open"
    for day, more in ((1, False), (2, True), (3, True)):
        game = table_at(TWO_HANDS, [alice, bob]).game
        Game.objects.filter(pk=game.pk).update(started_at=NOON.replace(day=day))
        form, profile = of_bob(as_alice, "report/"), of_bob(as_alice).text
        assert (cut in form.text, "Only 2 are listed" in profile) == (more, more), day
        assert f"from {day} November 2026, 12:00" in profile
    assert len(form.values("game")) == 2


def test_names_of_people_link_to_their_profiles_until_they_are_deleted(
    as_alice: Client, alice: User, bob: User, shared: Game
) -> None:
    waiting = lobby.create_table(user=alice, choices=lobby.TableChoices(players=4, bots=2), now=timezone.now()).game
    over = finished([alice, bob], winner=1)
    for url in (f"/games/{shared.code}/", f"/games/{shared.code}/log/", f"/games/{over.code}/"):
        assert Page(as_alice.get(url)).links_to("/people/bob/"), url
    people = [link.get("href", "") for link in Page(as_alice.get(f"/games/{waiting.code}/")).all("a")]
    assert [address for address in people if address.startswith("/people/")] == ["/people/alice/"]
    Seat.objects.filter(game=shared, user=bob).update(user=None, bot="careful")
    page = Page(as_alice.get(shared.get_absolute_url()))
    assert ("bob" in page.text, page.links_to("/people/bob/")) == (True, [])


def test_a_profile_with_many_tables_takes_no_more_queries(
    as_alice: Client, alice: User, bob: User, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    for n in range(4):
        table_at(TWO_HANDS, [alice, bob] if n % 2 else [bob, "careful"])
    with django_assert_max_num_queries(7):
        as_alice.get("/people/bob/")
