"""A thief with a copy of a session cookie cannot take over the account: security settings need the password."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import timedelta
from http.cookies import SimpleCookie
from unittest import mock

import pytest
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.contrib.auth import get_user
from django.db import connection
from django.http import Http404, HttpRequest
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts import actions, confirmation_keys, mails, queries
from accounts.adapter import AccountAdapter
from accounts.models import AccountMail, ApiToken, Session, User
from accounts.password_forms import ResetPassword
from accounts.reset_tokens import ResetTokens
from nomercy.sessions import KEY_GRACE, LONGEST, VISITORS_KEPT, SessionStore, SessionTooLong
from tests.conftest import api_token, logged_in
from tests.support.codes import confirmed_browser, totp

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
NEW = "a long way to Bergen"
CONFIRM, BY_CODE = "/accounts/reauthenticate/", "/accounts/2fa/reauthenticate/"
EMAIL, TOKENS = "/accounts/email/", "/accounts/me/tokens/"


@pytest.fixture
def addresses(alice: User) -> None:
    """Alice has confirmed two addresses and claims a third."""
    for name, verified in (("alice", True), ("second", True), ("third", False)):
        EmailAddress.objects.create(user=alice, email=f"{name}@example.org", verified=verified, primary=name == "alice")


def copied(browser: Client) -> Client:
    """Return another browser with a copy of this one's cookie."""
    thief = Client()
    thief.cookies = SimpleCookie({settings.SESSION_COOKIE_NAME: browser.cookies[settings.SESSION_COOKIE_NAME].value})
    return thief


def is_in(browser: Client) -> bool:
    return get_user(browser).is_authenticated


def security_settings(user: User) -> object:
    """Return the security settings of this person."""
    addresses = EmailAddress.objects.filter(user=user).order_by("pk").values("email", "primary", "verified")
    stored = User.objects.filter(pk=user.pk).values("email", "password", "last_totp_step")
    factors = Authenticator.objects.filter(user=user).order_by("pk").values("pk", "data")
    return [list(rows) for rows in (addresses, stored, factors, ApiToken.objects.filter(user=user).values())]


CHANGES = {
    "add an address": (EMAIL, {"action_add": "", "email": "thief@example.org"}),
    "remove an address": (EMAIL, {"action_remove": "", "email": "second@example.org"}),
    "make another primary": (EMAIL, {"action_primary": "", "email": "second@example.org"}),
    "make a token": (TOKENS, {"name": "mine"}),
    "turn the app off": ("/accounts/2fa/totp/deactivate/", {}),
    "make new codes": ("/accounts/2fa/recovery-codes/generate/", {}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_session_alone_cannot_change_security_settings(alice: User, addresses: None, change: str) -> None:
    TOTP.activate(alice, SECRET)
    RecoveryCodes.activate(alice)
    before, (page, form) = security_settings(alice), CHANGES[change]
    answer = logged_in(alice).post(page, form)
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{BY_CODE}?next={page.replace('/', '%2F')}"
    assert security_settings(alice) == before


@pytest.mark.parametrize("change", CHANGES)
def test_a_confirmation_allows_the_change(alice: User, addresses: None, change: str) -> None:
    TOTP.activate(alice, SECRET)
    RecoveryCodes.activate(alice)
    before, (page, form) = security_settings(alice), CHANGES[change]
    browser = logged_in(alice)
    confirmed = browser.post(f"{BY_CODE}?next={page}", {"code": totp(SECRET)})
    assert confirmed.headers["Location"] == page
    assert browser.post(page, form).status_code in (200, 302)
    assert security_settings(alice) != before


def test_a_session_alone_cannot_set_up_an_app(as_alice: Client, alice: User) -> None:
    for answer in (as_alice.get("/accounts/2fa/totp/activate/"), as_alice.post("/accounts/2fa/totp/activate/")):
        assert answer.headers["Location"].startswith(CONFIRM)
    assert "mfa.totp.secret" not in as_alice.session


@pytest.mark.parametrize("page", ["", "download/"])
def test_a_session_alone_cannot_read_recovery_codes(as_alice: Client, alice: User, page: str) -> None:
    RecoveryCodes.activate(alice)
    assert as_alice.get(f"/accounts/2fa/recovery-codes/{page}").headers["Location"].startswith(CONFIRM)


def test_a_confirmation_lasts_five_minutes(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = confirmed_browser(alice)
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 290)
    assert browser.get(TOKENS).status_code == 200
    monkeypatch.setattr("time.time", lambda: now + 310)
    assert browser.get(TOKENS).status_code == 303


def test_a_second_factor_can_confirm(alice: User) -> None:
    TOTP.activate(alice, SECRET)
    browser = logged_in(alice)
    answer = browser.post(f"{BY_CODE}?next={TOKENS}", {"code": totp(SECRET)})
    assert answer.headers["Location"] == TOKENS
    assert browser.get(TOKENS).status_code == 200


def test_a_form_left_by_a_thief_is_not_run_by_a_confirmation(alice: User, addresses: None) -> None:
    """allauth would store the form in the session, and run it when the owner confirms something on the same page."""
    browser = logged_in(alice)
    thief = copied(browser)
    thief.post(EMAIL, {"action_add": "", "email": "thief@example.org"})
    before = security_settings(alice)
    browser.post(f"{CONFIRM}?next={EMAIL}", {"password": "alice"})
    browser.get(EMAIL)
    assert security_settings(alice) == before


@pytest.mark.parametrize("by", ["password", "code"])
def test_a_confirmation_ends_copies_of_the_session(alice: User, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = logged_in(alice)
    thief = copied(browser)
    if by == "password":
        browser.post(CONFIRM, {"password": "alice"})
    else:
        TOTP.activate(alice, SECRET)
        browser.post(BY_CODE, {"code": totp(SECRET)})
    assert browser.get(TOKENS).status_code == 200
    assert thief.get(TOKENS).status_code == 303
    later = timezone.now() + KEY_GRACE
    monkeypatch.setattr("nomercy.sessions.timezone.now", lambda: later)
    assert (is_in(browser), is_in(thief)) == (True, False)


@pytest.mark.parametrize("read", ["before", "after"])
def test_an_old_key_is_not_kept_by_a_request_that_saves_its_session(
    alice: User, read: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = logged_in(alice)
    old = str(browser.session.session_key)
    requests = {"before": SessionStore(old), "after": SessionStore(old)}
    requests["before"]["links"] = []  # reads the session
    asked_at = timezone.now()
    browser.post(CONFIRM, {"password": "alice"})
    requests[read]["links"] = ["abc"]
    # The request has taken its time before the key was renewed, and reaches the database afterwards.
    with monkeypatch.context() as patched:
        patched.setattr("nomercy.sessions.timezone.now", lambda: asked_at)
        requests[read].save()
    assert Session.objects.get(session_key=old).expire_date <= timezone.now() + KEY_GRACE
    kept = Session.objects.exclude(session_key=old).get(user=alice)
    assert kept.expire_date > timezone.now() + timedelta(days=59)


def test_many_log_ins_do_not_make_a_session_longer(alice: User) -> None:
    browser = logged_in(alice)
    for _ in range(5):
        browser.post("/accounts/login/", {"login": "alice", "password": "alice"})
    assert len(browser.session["account_authentication_methods"]) == 1


def test_many_first_halves_of_a_log_in_do_not_make_a_session_longer(alice: User) -> None:
    TOTP.activate(alice, SECRET)
    visitor = Client()
    for _ in range(5):
        visitor.post("/accounts/login/", {"login": "alice", "password": "alice"})
    assert len(visitor.session["account_authentication_methods"]) == 1


def test_a_session_that_is_too_long_is_not_saved(alice: User) -> None:
    session = SessionStore(str(logged_in(alice).session.session_key))
    session["note"] = "x" * LONGEST
    with pytest.raises(SessionTooLong):
        session.save()
    assert "note" not in SessionStore(session.session_key)


@pytest.mark.long
def test_many_confirmations_do_not_make_a_session_longer(alice: User) -> None:
    browser = logged_in(alice)
    for _ in range(3):
        browser.post(CONFIRM, {"password": "alice"})
    TOTP.activate(alice, SECRET)
    first, *codes = RecoveryCodes.activate(alice).get_unused_codes()
    browser.post(BY_CODE, {"code": first})
    length = len(Session.objects.get(pk=browser.session.session_key).session_data)
    for code in codes:
        browser.post(BY_CODE, {"code": code})
    records = browser.session["account_authentication_methods"]
    assert [record["method"] for record in records] == ["password", "mfa"]
    assert len(Session.objects.get(pk=browser.session.session_key).session_data) <= length + 10


def test_a_session_that_is_saved_lasts_from_then_on(alice: User) -> None:
    browser = logged_in(alice)
    key = str(browser.session.session_key)
    Session.objects.update(expire_date=timezone.now() + timedelta(days=2))
    session = SessionStore(key)
    session["links"] = ["abc"]
    session.save()
    assert Session.objects.get(session_key=key).expire_date > timezone.now() + timedelta(days=59)


def test_a_visitor_s_session_lasts_a_day(db: None) -> None:
    session = SessionStore()
    session["links"] = ["abc"]
    session.save()
    session["links"] = ["abc", "def"]
    session.save()
    assert Session.objects.get().expire_date <= timezone.now() + VISITORS_KEPT


def test_opening_reset_links_is_limited(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RATE_LIMITS", 10)
    link = reset_link(alice)
    assert [Client().get(link).status_code for _ in range(4)] == [302, 302, 302, 429]
    assert Session.objects.count() == 3


def test_a_double_click_on_confirm_does_not_log_out(alice: User) -> None:
    browser = logged_in(alice)
    second_click = copied(browser)
    browser.post(f"{CONFIRM}?next={TOKENS}", {"password": "alice"})
    answer = second_click.post(f"{CONFIRM}?next={TOKENS}", {"password": "alice"})
    assert answer.headers["Location"] == TOKENS
    assert second_click.get(TOKENS).status_code == 200


def test_a_wrong_password_confirms_nothing(as_alice: Client) -> None:
    key = as_alice.session.session_key
    assert as_alice.post(CONFIRM, {"password": "bob"}).status_code == 200
    assert as_alice.session.session_key == key
    assert as_alice.get(TOKENS).status_code == 303


def test_a_confirmation_does_not_redirect_to_another_site(as_alice: Client) -> None:
    answer = as_alice.post(f"{CONFIRM}?next=//evil.example/", {"password": "alice"})
    assert answer.headers["Location"] == "/"


def test_addresses_can_be_read_and_confirmed_without_a_confirmation(
    as_alice: Client, alice: User, addresses: None
) -> None:
    page = as_alice.get(EMAIL).content.decode()
    assert "third@example.org" in page
    assert "Send the confirmation again" in page
    for offered in ("action_add", "action_remove", "action_primary"):
        assert offered not in page
        assert offered in confirmed_browser(alice).get(EMAIL).content.decode()
    assert as_alice.post(EMAIL, {"action_send": "", "email": "third@example.org"}).headers["Location"] == EMAIL


# Guests


GUESTS_PAGES = (
    EMAIL, TOKENS, CONFIRM, "/accounts/password/change/", "/accounts/password/set/", "/accounts/2fa/",
    "/accounts/2fa/reauthenticate/", "/accounts/2fa/totp/activate/", "/accounts/2fa/totp/deactivate/",
    "/accounts/2fa/recovery-codes/", "/accounts/2fa/recovery-codes/download/", "/accounts/2fa/recovery-codes/generate/",
)  # fmt: skip


@pytest.mark.parametrize("page", GUESTS_PAGES)
def test_a_guest_who_has_no_password_signs_up_first(db: None, page: str) -> None:
    guest = actions.create_guest()
    browser = logged_in(guest)
    form = {"email": "thief@example.org", "action_add": "", "name": "mine", "password1": NEW, "password2": NEW}
    for answer in (browser.get(page), browser.post(page, form)):
        assert answer.headers["Location"] == "/accounts/signup/"
    assert "Guests have no password" in browser.get("/accounts/signup/").content.decode()
    assert security_settings(guest)[0] == security_settings(guest)[3] == []  # type: ignore[index]  # rows
    guest.refresh_from_db()
    assert not guest.has_usable_password()


def test_signing_up_ends_the_tokens_and_other_sessions_of_the_guest(db: None) -> None:
    guest = actions.create_guest()
    token = api_token(guest)
    browser, other = logged_in(guest), logged_in(guest)
    thief = copied(browser)
    browser.post("/accounts/signup/", {"username": "quietotter", "password1": NEW, "password2": NEW})
    assert get_user(browser) == guest
    assert (is_in(thief), is_in(other)) == (False, False)
    assert actions.use_token(token=token, now=timezone.now()) is None


# Another password


def change(browser: Client, mine: Sequence[str] | None = None, **more: str) -> int:
    """Change the password, and keep the addresses `mine`. None sends a form that does not ask for them."""
    asked: dict[str, object] = {} if mine is None else {"asked": "True", "mine": list(mine)}
    form = {"oldpassword": "alice", "password1": NEW, "password2": NEW, **asked, **more}
    return browser.post("/accounts/password/change/", form).status_code


def reset_link(user: User, address: str = "") -> str:
    """Return the path of the link in the mail to this address (or the account's first) that resets the password."""
    token = ResetTokens(address or user.email).make_token(user)
    return f"/accounts/password/reset/key/{user_pk_to_url_str(user)}-{token}/"


def reset(browser: Client, link: str) -> int:
    """Open the link and set a new password. Return the status."""
    page = browser.get(link)
    return browser.post(page.headers.get("Location", link), {"password1": NEW, "password2": NEW}).status_code


def works(token: str) -> bool:
    return actions.use_token(token=token, now=timezone.now()) is not None


def test_changing_the_password_offers_to_revoke_tokens(alice: User) -> None:
    page = logged_in(alice).get("/accounts/password/change/").content.decode()
    assert 'name="revoke_tokens"' in page
    assert page[page.index('name="revoke_tokens"') :].partition(">")[0].rstrip().endswith("checked")
    assert "logged out everywhere else" in page


@pytest.mark.parametrize(("ticked", "left"), [({"revoke_tokens": "on"}, False), ({}, True)])
def test_changing_the_password_revokes_tokens_if_ticked(
    alice: User, bob: User, ticked: dict[str, str], left: bool
) -> None:
    token, other = api_token(alice), api_token(bob)
    assert change(logged_in(alice), **ticked) == 302
    assert works(token) is left
    assert works(other)


def test_changing_the_password_logs_out_everywhere_else(alice: User, bob: User) -> None:
    browser, other, bobs = logged_in(alice), logged_in(alice), logged_in(bob)
    thief = copied(browser)
    assert change(browser) == 302
    assert (is_in(browser), is_in(other), is_in(thief), is_in(bobs)) == (True, False, False, True)
    assert Session.objects.filter(user=alice).count() == 1


def test_a_refused_password_ends_nothing(alice: User) -> None:
    browser, other, token = logged_in(alice), logged_in(alice), api_token(alice)
    assert change(browser, oldpassword="wrong", revoke_tokens="on") == 200
    assert (is_in(browser), is_in(other), works(token)) == (True, True, True)


def test_an_address_added_before_a_reset_cannot_be_confirmed_after_it(alice: User, addresses: None) -> None:
    claim = EmailAddress.objects.get(email="third@example.org")
    link = reverse("account_confirm_email", args=[confirmation_keys.key_of(claim)])
    assert reset(Client(), reset_link(alice)) == 302
    Client().post(link)
    kept = EmailAddress.objects.filter(user=alice).order_by("pk").values_list("email", "verified")
    assert list(kept) == [("alice@example.org", True), ("second@example.org", True)]


@pytest.mark.parametrize("ticked", [None, ["alice@example.org", "second@example.org"]])
def test_a_change_of_password_removes_addresses_that_are_not_ticked(
    alice: User, addresses: None, ticked: list[str] | None
) -> None:
    claim = EmailAddress.objects.get(email="third@example.org")
    link = reverse("account_confirm_email", args=[confirmation_keys.key_of(claim)])
    mails.queue(kind=mails.CONFIRM, address="third@example.org", user=alice, now=timezone.now())
    browser = logged_in(alice)
    assert change(browser, ticked) == 302
    assert "third@example.org" in browser.get("/accounts/me/").content.decode()  # the message names it
    assert "This link no longer works" in Client().get(link).content.decode()
    assert Client().post(link).status_code == 404
    kept = EmailAddress.objects.filter(user=alice).order_by("pk").values_list("email", "verified")
    assert list(kept) == [("alice@example.org", True), ("second@example.org", True)]
    assert not mails.has_content(AccountMail.objects.get(kind=mails.CONFIRM))  # a mail that waits is not sent


@pytest.mark.parametrize("primary", ["alice", "thief"])
@pytest.mark.parametrize("confirmed", [None, "alice"])
@pytest.mark.parametrize("first", ["alice", "thief"])
def test_a_change_of_password_keeps_the_ticked_address_only(
    alice: User, primary: str, confirmed: str | None, first: str
) -> None:
    for name in sorted(("alice", "thief"), key=lambda name: name != first):
        EmailAddress.objects.create(
            user=alice, email=f"{name}@example.org", primary=name == primary, verified=name == confirmed
        )
    User.objects.filter(pk=alice.pk).update(email=f"{primary}@example.org")
    assert change(logged_in(alice), ["alice@example.org"]) == 302
    kept = EmailAddress.objects.filter(user=alice).values_list("email", "primary", "verified")
    assert list(kept) == [("alice@example.org", True, confirmed == "alice")]
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"
    assert queries.accounts_of("thief@example.org") == []
    assert queries.accounts_of("alice@example.org") == [alice]


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_change_of_password_asks_which_addresses_are_mine(alice: User, confirmed: bool) -> None:
    EmailAddress.objects.create(user=alice, email="alice@example.org", primary=True, verified=True)
    EmailAddress.objects.create(user=alice, email="second@example.org", verified=confirmed)
    browser = logged_in(alice)
    boxes = re.findall(r'<input[^>]*name="mine"[^>]*>', browser.get("/accounts/password/change/").content.decode())
    values = ["alice@example.org", "second@example.org"]
    assert [re.findall('value="([^"]*)"', box)[0] for box in boxes] == values
    assert ["checked" in box for box in boxes] == [confirmed] * len(boxes)
    for refused in ([], ["stranger@example.org"], ["none"], ["none", "alice@example.org"]):
        assert change(browser, refused) == 200
    assert EmailAddress.objects.filter(user=alice).count() == 2
    assert is_in(browser)


@pytest.mark.parametrize("ticked", [["thief@example.org"], ["none"], []])
def test_a_change_of_password_keeps_a_confirmed_address(alice: User, ticked: list[str]) -> None:
    EmailAddress.objects.create(user=alice, email="alice@example.org", primary=True, verified=True)
    EmailAddress.objects.create(user=alice, email="thief@example.org")
    browser = logged_in(alice)
    assert change(browser, ticked) == 200
    assert queries.addresses_of(alice) == ["alice@example.org", "thief@example.org"]
    assert queries.accounts_of("alice@example.org") == [alice]


@pytest.mark.parametrize("ticked", [[], ["none", "alice@example.org"], ["stranger@example.org"]])
def test_a_change_of_password_asks_again_if_no_address_is_chosen(alice: User, ticked: list[str]) -> None:
    EmailAddress.objects.create(user=alice, email="alice@example.org", primary=True)
    browser = logged_in(alice)
    assert 'value="none"' in browser.get("/accounts/password/change/").content.decode()
    assert change(browser, ticked) == 200
    assert is_in(browser)


def test_a_change_of_password_can_remove_addresses_that_are_not_confirmed(alice: User) -> None:
    EmailAddress.objects.create(user=alice, email="thief@example.org", primary=True)
    User.objects.filter(pk=alice.pk).update(email="thief@example.org")
    assert change(logged_in(alice), ["none"]) == 302
    alice.refresh_from_db()
    assert (alice.email, queries.addresses_of(alice)) == ("", [])
    assert queries.accounts_of("thief@example.org") == []


def test_an_address_added_while_the_form_is_open_is_removed(alice: User) -> None:
    EmailAddress.objects.create(user=alice, email="alice@example.org", primary=True, verified=True)
    browser = logged_in(alice)
    browser.get("/accounts/password/change/")
    EmailAddress.objects.create(user=alice, email="thief@example.org")
    assert change(browser, ["alice@example.org"]) == 302
    assert queries.addresses_of(alice) == ["alice@example.org"]


def test_a_new_password_ends_earlier_links_to_confirm_the_primary_address(alice: User) -> None:
    claim = EmailAddress.objects.create(user=alice, email="alice@example.org", primary=True)
    link = reverse("account_confirm_email", args=[confirmation_keys.key_of(claim)])
    change(logged_in(alice), ["alice@example.org"])
    assert Client().post(link).status_code == 404
    claim.user.refresh_from_db()
    Client().post(reverse("account_confirm_email", args=[confirmation_keys.key_of(claim)]))
    assert EmailAddress.objects.get(user=alice).verified


def test_confirming_an_address_is_told_to_those_confirmed_before(alice: User, addresses: None) -> None:
    claim = EmailAddress.objects.get(email="third@example.org")
    Client().post(reverse("account_confirm_email", args=[confirmation_keys.key_of(claim)]))
    told = AccountMail.objects.filter(kind=mails.CONFIRMED).order_by("address").values_list("address", "facts")
    facts = {"confirmed_email": "third@example.org"}
    assert list(told) == [("alice@example.org", facts), ("second@example.org", facts)]


def test_a_confirmation_that_waits_for_a_new_password_is_refused(alice: User) -> None:
    number = EmailAddress.objects.create(user=alice, email="alice@example.org", primary=True).pk
    claim = EmailAddress.objects.select_related("user").get(pk=number)  # as a request that waits for the lock read it
    change(logged_in(alice), ["alice@example.org"])
    with pytest.raises(Http404):
        AccountAdapter().confirm_email(RequestFactory().post("/"), claim)
    assert not EmailAddress.objects.get(pk=number).verified


@pytest.mark.parametrize(
    ("change", "page"),
    [({"is_active": False}, "/accounts/inactive/"), ({"password": "another"}, "/accounts/login/")],
    ids=["closed", "new password"],
)
def test_a_log_in_makes_no_session_if_its_account_has_just_changed(
    alice: User, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], page: str
) -> None:
    login = AccountAdapter.login

    def changed_first(adapter: AccountAdapter, request: HttpRequest, user: User) -> None:
        User.objects.filter(pk=user.pk).update(**change)
        login(adapter, request, user)

    monkeypatch.setattr(AccountAdapter, "login", changed_first)
    answer = Client().post("/accounts/login/", {"login": "alice", "password": "alice"})
    assert answer.headers["Location"] == page
    assert not Session.objects.filter(user=alice).exists()


def test_a_request_that_waited_while_its_account_was_closed_makes_no_token(alice: User) -> None:
    waiting = User.objects.get(pk=alice.pk)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    with pytest.raises(actions.AccountChanged):
        actions.create_token(user=waiting, name="thief", now=timezone.now())
    assert not ApiToken.objects.exists()


def test_an_address_that_is_removed_during_its_confirmation_stays_removed(alice: User, addresses: None) -> None:
    claim = EmailAddress.objects.get(email="third@example.org")
    EmailAddress.objects.filter(pk=claim.pk).delete()
    with pytest.raises(Http404):
        AccountAdapter().confirm_email(RequestFactory().post("/"), claim)
    assert not EmailAddress.objects.filter(email="third@example.org").exists()


@pytest.mark.parametrize("primary", ["alice", "thief"])
def test_a_reset_keeps_only_the_address_of_its_mail_if_none_is_confirmed(alice: User, primary: str) -> None:
    for name in ("thief", "alice"):
        EmailAddress.objects.create(user=alice, email=f"{name}@example.org", primary=name == primary)
    User.objects.filter(pk=alice.pk).update(email=f"{primary}@example.org")
    claim = EmailAddress.objects.get(email="thief@example.org")
    confirmation = reverse("account_confirm_email", args=[confirmation_keys.key_of(claim)])
    alice.refresh_from_db()
    assert reset(Client(), reset_link(alice, "alice@example.org")) == 302
    Client().post(confirmation)
    kept = EmailAddress.objects.filter(user=alice).values_list("email", "primary", "verified")
    assert list(kept) == [("alice@example.org", True, False)]
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"


def test_a_reset_link_of_an_unconfirmed_address_ends_when_another_is_confirmed(alice: User) -> None:
    for name in ("alice", "second"):
        EmailAddress.objects.create(user=alice, email=f"{name}@example.org", primary=name == "alice")
    link = reset_link(alice, "second@example.org")
    EmailAddress.objects.filter(email="alice@example.org").update(verified=True)
    before = security_settings(alice)
    assert "This link no longer works" in Client().get(link).content.decode()
    assert security_settings(alice) == before


def test_a_reset_link_that_ends_while_its_form_is_open_changes_nothing(alice: User, addresses: None) -> None:
    browser, link = Client(), reset_link(alice, "second@example.org")
    page = browser.get(link).headers["Location"]
    with mock.patch.object(ResetPassword, "is_valid", remove_address_first):
        answer = browser.post(page, {"password1": NEW, "password2": NEW})
    assert "Log in with the new" in answer.content.decode()
    alice.refresh_from_db()
    assert alice.check_password("alice")


def remove_address_first(form: ResetPassword) -> bool:
    """Remove the address of the link after the request has checked the link, and validate the form."""
    EmailAddress.objects.filter(email="second@example.org").delete()
    return not form.errors


@pytest.mark.parametrize("in_a_session_of_hers", [False, True])
def test_a_reset_revokes_every_token_and_ends_every_session(alice: User, bob: User, in_a_session_of_hers: bool) -> None:
    tokens, other = [api_token(alice), api_token(alice)], api_token(bob)
    before, bobs = logged_in(alice), logged_in(bob)
    browser = logged_in(alice) if in_a_session_of_hers else Client()
    assert reset(browser, reset_link(alice)) == 302
    assert (is_in(before), is_in(browser), is_in(bobs)) == (False, False, True)
    assert not any(works(token) for token in tokens)
    assert works(other)
    assert not Session.objects.filter(user=alice).exists()
    page = browser.get("/accounts/password/reset/key/done/").content.decode()
    assert "You are logged out everywhere, all API tokens of the account are revoked, and addresses that" in page
    assert "Your password was changed." in page
    alice.refresh_from_db()
    assert alice.check_password(NEW)


@pytest.mark.parametrize("what", ["the password is changed", "it is used", "the address is removed"])
def test_an_earlier_reset_link_stops_working(alice: User, addresses: None, what: str) -> None:
    link = reset_link(alice, "second@example.org")
    if what == "the password is changed":
        change(logged_in(alice))
    elif what == "it is used":
        reset(Client(), link)
    else:
        confirmed_browser(alice).post(EMAIL, {"action_remove": "", "email": "second@example.org"})
    before = security_settings(alice)
    page = Client().get(link)
    assert page.status_code == 200
    assert "This link no longer works" in page.content.decode()
    assert security_settings(alice) == before


def test_saving_a_password_keeps_other_changes(alice: User) -> None:
    browser = logged_in(alice)
    stale = User.objects.get(pk=alice.pk)
    User.objects.filter(pk=alice.pk).update(muted_until=timezone.now())
    AccountAdapter().set_password(stale, NEW)
    alice.refresh_from_db()
    assert alice.muted_until is not None
    assert alice.check_password(NEW)
    assert not is_in(browser)


@pytest.mark.parametrize("end", ["another password", "everywhere else"])
def test_a_thief_cannot_use_up_the_limits_of_the_owner(alice: User, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr(settings, "RATE_LIMITS", 10)  # one form of each kind a minute
    thief, owner = logged_in(alice), logged_in(alice)
    for _ in range(2):
        answers = thief.post("/accounts/me/sessions/"), thief.post("/accounts/password/change/")
    assert {answer.status_code for answer in answers} == {429}
    if end == "another password":
        assert change(owner) == 302
    else:
        owner.post(CONFIRM, {"password": "alice"})
        assert owner.post("/accounts/me/sessions/", {"end": "others"}).status_code == 303
    assert not is_in(thief)


def test_all_expired_sessions_are_deleted_in_batches(alice: User, bob: User) -> None:
    kept, ended = logged_in(alice), [logged_in(bob).session.session_key for _ in range(5)]
    now = timezone.now()
    Session.objects.filter(pk__in=ended).update(expire_date=now - timedelta(seconds=1))
    with CaptureQueriesContext(connection) as statements:
        actions.clear_expired_sessions(now=now, batch=2)
    assert [session.pk for session in Session.objects.all()] == [kept.session.session_key]
    assert sum("DELETE" in statement["sql"] for statement in statements) == 3


def test_a_visitors_form_that_needs_a_log_in_makes_no_session(client: Client, db: None) -> None:
    answer = client.post("/accounts/2fa/totp/activate/", {"code": "123456"})
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith("/accounts/login/")
    assert not Session.objects.exists()
