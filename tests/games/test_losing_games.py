"""A guest's games go with the session. Nobody loses them by one press, or by one that was meant for something else."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings as site
from django.contrib.auth import get_user
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.actions import create_guest
from accounts.adapter import LEFT_GUEST
from accounts.models import Session, User
from accounts.reset_tokens import ResetTokens
from games.actions import guests, table_limits
from games.models import Game, Seat
from tests.conftest import logged_in, person
from tests.support.codes import confirmed_browser
from tests.support.pages import open_table, text_of
from tests.support.tables import TWO_HANDS, table_at
from tests.support.web import at_once

pytestmark = pytest.mark.django_db

LOG_OUT, MOVE = "/accounts/logout/", "/move-seats/"
WORD = "a long enough pass-phrase"
NEW_PASSWORD = {"password1": WORD, "password2": WORD}


@pytest.fixture
def guest(bob: User) -> User:
    """Return a guest with two games."""
    one = create_guest()
    for _ in range(2):
        table_at(TWO_HANDS, [one, bob])
    return one


@pytest.fixture
def as_guest(guest: User) -> Client:
    return logged_in(guest)


@pytest.fixture
def after_log_in(as_guest: Client, alice: User) -> Client:
    """Return the guest's browser after it has logged in to Alice's account, at the page that the log-in leads to."""
    as_guest.get(log_in(as_guest, "alice").headers["Location"])
    return as_guest


def log_in(browser: Client, name: str) -> Any:
    return browser.post("/accounts/login/", {"login": name, "password": name})


def reset_password(browser: Client, user: User) -> None:
    """Choose a new password by a link as in the mail that resets it."""
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    token = ResetTokens(user.email).make_token(User.objects.get(pk=user.pk))
    link = f"/accounts/password/reset/key/{user_pk_to_url_str(user)}-{token}/"
    browser.post(browser.get(link, follow=True).redirect_chain[-1][0], NEW_PASSWORD)


def buttons(page: Any) -> list[tuple[str, str]]:
    """Return the classes and the words of the buttons on a page, in their order."""
    found = re.findall(r'<(?:a|button) class="(button[^"]*)"[^>]*>(.*?)</', page.content.decode(), re.DOTALL)
    return [(classes.removeprefix("button").strip(), " ".join(words.split())) for classes, words in found]


@pytest.mark.long
def test_games_that_the_account_plays_too_are_told_and_asked_about(as_guest: Client, guest: User, alice: User) -> None:
    table_at(TWO_HANDS, [guest, alice])
    log_in(as_guest, "alice")
    page = text_of(as_guest.post(MOVE, {"answer": "move"}, follow=True))
    assert f"1 game of {guest.name} stayed behind: your account plays there too." in page
    assert as_guest.session[LEFT_GUEST] == guest.pk


@pytest.mark.django_db(transaction=True)
def test_of_two_presses_at_once_that_move_the_games_the_second_moves_none(guest: User, alice: User) -> None:
    def move(ready: Callable[[], object]) -> int:
        ready()
        return guests.move_seats(guest=guest, user=alice, now=timezone.now()).games

    assert sorted(at_once([move] * 3)) == [0, 0, 2]


def test_a_control_character_gives_no_game_up(as_guest: Client) -> None:
    assert as_guest.post("/play-now/", {"give_up": "\0abc"}).status_code == 303
    assert Game.objects.filter(status="playing").count() == 3


# Logging out


def test_a_guest_who_logs_out_is_offered_to_sign_up_first_and_asked_twice(as_guest: Client, guest: User) -> None:
    page = as_guest.get(LOG_OUT)
    assert "If you log out, your 2 guest games are gone for good." in text_of(page)
    assert "Keep them? It takes a name and a password." in text_of(page)
    assert buttons(page) == [
        ("primary", "Sign up and keep them"), ("", "Stay logged in"), ("quiet", "Log out and lose 2 games")
    ]  # fmt: skip
    assert "<form" not in page.content.decode()
    last = as_guest.get(f"{LOG_OUT}?lose=1")
    assert "<h1>Lose 2 games for good?</h1>" in last.content.decode()
    assert buttons(last) == [("primary", "No, go back"), ("quiet", "Log out and lose 2 games")]
    as_guest.post(LOG_OUT, {"lose": "2"})
    assert not get_user(as_guest).is_authenticated


@pytest.mark.parametrize("form", [{}, {"lose": ""}, {"lose": "1"}, {"lose": "3"}, {"lose": "x"}, {"next": "/rules/"}])
def test_no_other_form_logs_a_guest_with_games_out(as_guest: Client, guest: User, form: dict[str, str]) -> None:
    """The number is that of the page: a guest who has got more games since then has not been asked about those."""
    answer = as_guest.post(LOG_OUT, form)
    assert (answer.status_code, answer.headers["Location"]) == (303, LOG_OUT)
    assert get_user(as_guest) == guest


def test_a_guest_without_games_logs_out_with_one_press(db: None) -> None:
    guest = create_guest()
    browser = logged_in(guest)
    closed = open_table(guest)  # one that never started is no game to lose
    Game.objects.filter(pk=closed.pk).update(status=Game.Status.VOID)
    assert "You are a guest without games, so you lose nothing." in text_of(browser.get(LOG_OUT))
    browser.post(LOG_OUT)
    assert not get_user(browser).is_authenticated


@pytest.mark.parametrize(
    ("registration", "sentence"),
    [
        ("invite", "To keep them you need an invitation to sign up. If you get one, open its link in this browser."),
        ("closed", "Nobody can sign up on this site, so stay logged in to keep them."),
    ],
)
def test_where_a_guest_cannot_sign_up_the_page_says_so(
    as_guest: Client, settings: Settings, registration: str, sentence: str
) -> None:
    settings.REGISTRATION = registration
    page = as_guest.get(LOG_OUT)
    assert sentence in text_of(page)
    assert buttons(page) == [("primary", "Stay logged in"), ("quiet", "Log out and lose 2 games")]


def test_a_muted_guest_reads_when_signing_up_is_possible(as_guest: Client, guest: User) -> None:
    User.objects.filter(pk=guest.pk).update(muted_until=timezone.now() + timedelta(days=2))
    page = as_guest.get(LOG_OUT)
    assert "when your mute ends. Your games stay in this browser until then." in text_of(page)
    assert "Sign up and keep them" not in text_of(page)


def test_the_front_page_offers_no_sign_up_where_nobody_can(as_guest: Client, settings: Settings) -> None:
    settings.REGISTRATION = "closed"
    assert "You are playing as a guest. Your games are in this browser only." in text_of(as_guest.get("/"))
    assert "keep your games" not in text_of(as_guest.get("/accounts/me/"))


# After a guest has logged in to an account


def test_logging_out_of_the_account_asks_about_the_games_of_the_guest(after_log_in: Client, guest: User) -> None:
    page = after_log_in.get(LOG_OUT)
    assert f"you played here as the guest {guest.name}. If you log out, your 2 guest games are gone" in text_of(page)
    assert buttons(page) == [
        ("primary", "Bring them along"), ("", "Stay logged in"), ("quiet", "Log out and lose 2 games")
    ]  # fmt: skip
    after_log_in.post(LOG_OUT)
    assert after_log_in.session[LEFT_GUEST] == guest.pk
    after_log_in.post(LOG_OUT, {"lose": "2"})
    assert not get_user(after_log_in).is_authenticated


def test_leaving_the_games_behind_is_asked_twice(after_log_in: Client, guest: User) -> None:
    answer = after_log_in.post(MOVE, {"answer": "leave"})
    assert answer.headers["Location"] == f"{MOVE}?lose=1"
    page = after_log_in.get(f"{MOVE}?lose=1")
    assert "<h1>Leave 2 games behind for good?</h1>" in page.content.decode()
    assert buttons(page) == [("primary", "No, go back"), ("quiet", "Leave them behind")]
    assert after_log_in.session[LEFT_GUEST] == guest.pk
    assert after_log_in.post(MOVE, {"answer": "leave", "lose": "2"}).headers["Location"] == "/"
    assert LEFT_GUEST not in after_log_in.session


@pytest.mark.parametrize("form", [{}, {"answer": "later"}, {"answer": "leave", "lose": "1"}, {"lose": "2"}])
def test_no_other_answer_leaves_the_games_behind(after_log_in: Client, guest: User, form: dict[str, str]) -> None:
    assert after_log_in.post(MOVE, form).headers["Location"].startswith(MOVE)
    assert after_log_in.session[LEFT_GUEST] == guest.pk


@pytest.mark.long
def test_games_that_are_over_a_limit_can_be_moved_later(
    after_log_in: Client, alice: User, bob: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(table_limits, "TABLES", 2)
    mine = table_at(TWO_HANDS, [alice, bob]).game
    assert "1 game of" in text_of(after_log_in.post(MOVE, {"answer": "move"}, follow=True))
    Game.objects.filter(pk=mine.pk).update(status=Game.Status.OVER, winner=0)
    after_log_in.post(MOVE, {"answer": "move"})
    assert Seat.objects.filter(user=alice).count() == 3


@pytest.mark.parametrize("log_in_again", ["zoe", "dana", "alice"], ids=["another", "a new account", "the same"])
def test_logging_in_once_more_keeps_the_guest(after_log_in: Client, guest: User, log_in_again: str) -> None:
    if log_in_again == "dana":
        after_log_in.post("/accounts/signup/", {"username": "dana", **NEW_PASSWORD})
    else:
        person("zoe")
        log_in(after_log_in, log_in_again)
    assert get_user(after_log_in).is_authenticated
    assert after_log_in.session[LEFT_GUEST] == guest.pk


def test_the_second_of_two_clicks_on_log_in_keeps_the_guest(as_guest: Client, guest: User, alice: User) -> None:
    second = Client()
    second.cookies[site.SESSION_COOKIE_NAME] = as_guest.cookies[site.SESSION_COOKIE_NAME].value
    assert [log_in(browser, "alice").headers["Location"] for browser in (as_guest, second)] == [MOVE, MOVE]
    assert get_user(second) == alice
    assert second.session[LEFT_GUEST] == guest.pk


def test_deleting_the_account_asks_about_the_games_of_the_guest_first(guest: User, alice: User) -> None:
    browser = confirmed_browser(alice)
    session = browser.session
    session[LEFT_GUEST] = guest.pk
    session.save()
    answer = browser.post("/accounts/me/delete/", follow=True)
    assert answer.redirect_chain == [(MOVE, 303)]
    assert f"Decide first what happens to the games of {guest.name}." in text_of(answer)
    assert User.objects.get(pk=alice.pk).deletes_at is None


# When the session of the account has ended from elsewhere


def by_log_out_elsewhere(browser: Client, alice: User) -> None:
    confirmed_browser(alice).post("/accounts/me/sessions/", {"end": "others"})


def by_another_password(browser: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(password=make_password("alice"))  # with another salt


def by_a_reset_link_in_the_same_browser(browser: Client, alice: User) -> None:
    reset_password(browser, alice)
    by_another_password(browser, alice)


def end_session(browser: Client) -> None:
    Session.objects.all().delete()
    assert not get_user(browser).is_authenticated


@pytest.mark.parametrize("end", [by_log_out_elsewhere, by_another_password, by_a_reset_link_in_the_same_browser])
def test_the_next_log_in_to_the_account_finds_the_guest(
    after_log_in: Client, guest: User, alice: User, end: Callable[[Client, User], None]
) -> None:
    end(after_log_in, alice)
    assert "Log in" in text_of(after_log_in.get("/"))
    log_in(after_log_in, "alice")
    assert f"You have played here as the guest {guest.name}." in text_of(after_log_in.get("/"))
    after_log_in.post(MOVE, {"answer": "move"})
    assert Seat.objects.filter(user=alice).count() == 2


def test_the_next_log_in_to_another_account_does_not(after_log_in: Client, guest: User) -> None:
    """A thief with a copy of all cookies, whose session the owner has ended, logs in to an account of their own."""
    end_session(after_log_in)
    person("zoe")
    log_in(after_log_in, "zoe")
    assert guest.name not in text_of(after_log_in.get("/"))
    after_log_in.post(MOVE, {"answer": "move"})
    assert Seat.objects.filter(user=guest).count() == 2
    log_in(after_log_in, "alice")
    assert guest.name in text_of(after_log_in.get("/"))


@pytest.mark.long
def test_a_second_guest_in_that_browser_does_not_replace_the_first(after_log_in: Client, guest: User) -> None:
    end_session(after_log_in)
    after_log_in.post("/play-now/")
    second = User.objects.get(is_guest=True, pk__gt=guest.pk)
    assert second.name in text_of(after_log_in.get(log_in(after_log_in, "alice").headers["Location"]))
    after_log_in.post(MOVE, {"answer": "move"})
    assert guest.name in text_of(after_log_in.get("/"))


@pytest.mark.parametrize(
    ("url", "form"), [(MOVE, {"answer": "move"}), (MOVE, {"answer": "leave", "lose": "2"}), (LOG_OUT, {"lose": "2"})]
)
def test_no_log_in_finds_a_guest_whose_games_were_brought_along_or_lost(
    after_log_in: Client, guest: User, bob: User, url: str, form: dict[str, str]
) -> None:
    after_log_in.post(url, form)
    table_at(TWO_HANDS, [guest, bob])  # so that there is something to find
    end_session(after_log_in)
    log_in(after_log_in, "alice")
    assert guest.name not in text_of(after_log_in.get("/"))


# What a guest can press besides


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("/admin/logout/", {}),
        ("/accounts/me/sessions/", {"end": "others"}),
        ("/accounts/me/delete/", {}),
        ("/accounts/password/change/", NEW_PASSWORD),
        ("/accounts/password/set/", NEW_PASSWORD),
    ],
)
def test_nothing_else_logs_a_guest_out(as_guest: Client, guest: User, url: str, form: dict[str, str]) -> None:
    as_guest.post(url, form)
    assert get_user(as_guest) == guest


def test_a_reset_link_of_an_account_leaves_the_guest_logged_in(as_guest: Client, guest: User, alice: User) -> None:
    reset_password(as_guest, alice)
    assert User.objects.get(pk=alice.pk).check_password(WORD)
    assert get_user(as_guest) == guest


# The end of a session


@pytest.mark.parametrize(
    ("kind", "left", "ending", "days"),
    [
        ("guest", timedelta(days=3), False, 60),
        ("guest", timedelta(days=40), False, 40),  # it is not stored again at every page
        ("guest", timedelta(seconds=9), True, 0),  # one with a new key still ends under the old one
        ("alice", timedelta(days=3), False, 3),
    ],
)
def test_the_session_of_a_guest_who_keeps_playing_does_not_end(
    guest: User, alice: User, kind: str, left: timedelta, ending: bool, days: int
) -> None:
    user = guest if kind == "guest" else alice
    browser = logged_in(user)
    own = Session.objects.filter(user=user)
    own.update(expire_date=timezone.now() + left, ending=ending)
    cookies = browser.get("/").cookies
    assert round((own.get().expire_date - timezone.now()) / timedelta(days=1)) == days
    if days == 60:
        assert cookies[site.SESSION_COOKIE_NAME]["max-age"] == 60 * 24 * 60 * 60
    elif kind == "guest":
        assert site.SESSION_COOKIE_NAME not in cookies
