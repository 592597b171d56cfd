"""Test that staff who have just logged in set up a second factor without typing the password again (decision 62)."""

from __future__ import annotations

import time

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client

from accounts.models import User
from tests.support import account_pages as pages
from tests.support.codes import totp

SET_UP = pages.SET_UP


def after_log_in(user: User) -> Client:
    browser = Client()
    assert pages.log_in(browser, user.username).status_code == 302
    return browser


def test_staff_who_have_just_logged_in_set_up_a_factor_without_the_password(mo: User) -> None:
    browser = Client()
    answer = browser.post("/accounts/login/?next=/admin/", {"login": "mo", "password": "mo"}, follow=True)
    assert answer.redirect_chain[-1][0] == SET_UP
    assert answer.status_code == 200
    assert browser.get(SET_UP).status_code == 200


def test_five_minutes_after_the_log_in_the_password_is_asked(mo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, now = after_log_in(mo), time.time()
    monkeypatch.setattr("time.time", lambda: now + 310)
    assert browser.get(SET_UP).headers["Location"].startswith(pages.CONFIRM)


def test_players_are_asked_for_the_password(alice: User) -> None:
    assert after_log_in(alice).get(SET_UP).headers["Location"].startswith(pages.CONFIRM)


def test_staff_with_a_factor_are_asked_for_a_code_before_it_is_turned_off(mo: User) -> None:
    TOTP.activate(mo, pages.SECRET)
    browser = after_log_in(mo)
    assert browser.get("/admin/").status_code == 302  # the code is still missing
    browser.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)})
    assert browser.get("/admin/").status_code == 200
    answer = browser.get(pages.TURN_OFF)
    assert answer.headers["Location"].startswith(pages.CONFIRM_BY_CODE)
