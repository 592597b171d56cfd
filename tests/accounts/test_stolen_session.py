"""A thief with a copy of a session cookie cannot take over the account: security settings need the password."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from unittest import mock

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.db import connection
from django.http import Http404, HttpRequest
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import actions, mails, queries
from accounts.adapter import AccountAdapter
from accounts.models import AccountMail, ApiToken, Session, User
from accounts.password_forms import ResetPassword
from nomercy.sessions import KEY_GRACE, LONGEST, VISITORS_KEPT, SessionStore, SessionTooLong
from tests.conftest import api_token, logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import claim, confirmed, copied, is_in, who
from tests.support.codes import confirmed_browser, totp

NOTHING_WORKS, KEPT = "This link no longer works", [("alice@example.org", True), ("second@example.org", True)]


def security_settings(user: User) -> object:
    """Return the security settings of this person."""
    addresses = EmailAddress.objects.filter(user=user).order_by("pk").values("email", "primary", "verified")
    stored = User.objects.filter(pk=user.pk).values("email", "password", "last_totp_step")
    factors = Authenticator.objects.filter(user=user).order_by("pk").values("pk", "data")
    return [list(rows) for rows in (addresses, stored, factors, ApiToken.objects.filter(user=user).values())]


def stored_addresses(user: User, *fields: str) -> list[object]:
    return list(EmailAddress.objects.filter(user=user).order_by("pk").values_list("email", *fields))


CHANGES = {
    "add an address": (pages.EMAIL, {"action_add": "", "email": "thief@example.org"}),
    "remove an address": (pages.EMAIL, {"action_remove": "", "email": "second@example.org"}),
    "make another primary": (pages.EMAIL, {"action_primary": "", "email": "second@example.org"}),
    "make a token": (pages.TOKENS, {"name": "mine"}),
    "turn the app off": (pages.TURN_OFF, {}),
    "make new codes": (pages.MAKE_CODES, {}),
    "change the password": (pages.CHANGE, {"oldpassword": "alice", **pages.NEW_PASSWORD}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_with_a_second_factor_neither_a_session_nor_the_password_but_a_code_allows_a_change(
    alice: User, addresses: None, change: str
) -> None:
    TOTP.activate(alice, pages.SECRET)
    RecoveryCodes.activate(alice)
    before, (page, form) = security_settings(alice), CHANGES[change]
    browser = logged_in(alice)
    for _ in range(2):
        answer = browser.post(page, form)
        assert answer.status_code == 303
        assert answer.headers["Location"] == f"{pages.CONFIRM_BY_CODE}?next={page.replace('/', '%2F')}"
        browser.post(pages.CONFIRM, {"password": "alice"})
    assert security_settings(alice) == before
    confirmed = browser.post(f"{pages.CONFIRM_BY_CODE}?next={page}", {"code": totp(pages.SECRET)})
    assert confirmed.headers["Location"] == page
    used = security_settings(alice)
    assert browser.post(page, form).status_code in (200, 302)
    assert security_settings(alice) != used


@pytest.mark.parametrize("page", [pages.SET_UP, pages.CODES, f"{pages.CODES}download/"])
def test_a_session_alone_sets_up_no_app_and_reads_no_recovery_codes(as_alice: Client, alice: User, page: str) -> None:
    RecoveryCodes.activate(alice)
    asked = [as_alice.get(page), as_alice.post(page)] if page == pages.SET_UP else [as_alice.get(page)]
    assert all(answer.headers["Location"].startswith(pages.CONFIRM) for answer in asked)
    assert "mfa.totp.secret" not in as_alice.session


def test_a_confirmation_lasts_five_minutes(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = confirmed_browser(alice)
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 290)
    assert browser.get(pages.TOKENS).status_code == 200
    monkeypatch.setattr("time.time", lambda: now + 310)
    assert browser.get(pages.TOKENS).status_code == 303


def test_a_form_left_by_a_thief_is_not_run_by_a_confirmation(alice: User, addresses: None) -> None:
    """allauth would store the form in the session, and run it when the owner confirms something on the same page."""
    browser = logged_in(alice)
    thief = copied(browser)
    thief.post(pages.EMAIL, {"action_add": "", "email": "thief@example.org"})
    before = security_settings(alice)
    browser.post(f"{pages.CONFIRM}?next={pages.EMAIL}", {"password": "alice"})
    browser.get(pages.EMAIL)
    assert security_settings(alice) == before


@pytest.mark.parametrize("by", ["password", "code"])
def test_a_confirmation_ends_copies_of_the_session(alice: User, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = logged_in(alice)
    thief = copied(browser)
    if by == "password":
        browser.post(pages.CONFIRM, {"password": "alice"})
    else:
        TOTP.activate(alice, pages.SECRET)
        browser.post(pages.CONFIRM_BY_CODE, {"code": totp(pages.SECRET)})
    assert browser.get(pages.TOKENS).status_code == 200
    assert thief.get(pages.TOKENS).status_code == 303
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
    browser.post(pages.CONFIRM, {"password": "alice"})
    requests[read]["links"] = ["abc"]
    # The request has taken its time before the key was renewed, and reaches the database afterwards.
    with monkeypatch.context() as patched:
        patched.setattr("nomercy.sessions.timezone.now", lambda: asked_at)
        requests[read].save()
    assert Session.objects.get(session_key=old).expire_date <= timezone.now() + KEY_GRACE
    kept = Session.objects.exclude(session_key=old).get(user=alice)
    assert kept.expire_date > timezone.now() + timedelta(days=59)


@pytest.mark.parametrize("with_factor", [False, True])
def test_many_log_ins_or_first_halves_of_one_do_not_make_a_session_longer(alice: User, with_factor: bool) -> None:
    browser = logged_in(alice)
    if with_factor:
        browser = Client()
        TOTP.activate(alice, pages.SECRET)
    for _ in range(5):
        pages.log_in(browser)
    assert len(browser.session["account_authentication_methods"]) == 1


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
        browser.post(pages.CONFIRM, {"password": "alice"})
    TOTP.activate(alice, pages.SECRET)
    first, *codes = RecoveryCodes.activate(alice).get_unused_codes()
    browser.post(pages.CONFIRM_BY_CODE, {"code": first})
    length = len(Session.objects.get(pk=browser.session.session_key).session_data)
    for code in codes:
        browser.post(pages.CONFIRM_BY_CODE, {"code": code})
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
    link = pages.reset_link(alice)
    assert [Client().get(link).status_code for _ in range(4)] == [302, 302, 302, 429]
    assert Session.objects.count() == 3


def test_a_double_click_on_confirm_does_not_log_out(alice: User) -> None:
    browser = logged_in(alice)
    second_click = copied(browser)
    browser.post(f"{pages.CONFIRM}?next={pages.TOKENS}", {"password": "alice"})
    answer = second_click.post(f"{pages.CONFIRM}?next={pages.TOKENS}", {"password": "alice"})
    assert answer.headers["Location"] == pages.TOKENS
    assert second_click.get(pages.TOKENS).status_code == 200


def test_a_wrong_password_confirms_nothing_and_a_right_one_leads_to_no_other_site(as_alice: Client) -> None:
    key = as_alice.session.session_key
    assert as_alice.post(pages.CONFIRM, {"password": "bob"}).status_code == 200
    assert as_alice.session.session_key == key
    assert as_alice.get(pages.TOKENS).status_code == 303
    answer = as_alice.post(f"{pages.CONFIRM}?next=//evil.example/", {"password": "alice"})
    assert answer.headers["Location"] == "/"


def test_addresses_can_be_read_and_confirmed_without_a_confirmation(
    as_alice: Client, alice: User, addresses: None
) -> None:
    page = as_alice.get(pages.EMAIL).content.decode()
    assert "third@example.org" in page
    assert "Send a confirmation" in page
    for offered in ("action_add", "action_remove", "action_primary"):
        assert offered not in page
        assert offered in confirmed_browser(alice).get(pages.EMAIL).content.decode()
    sent = pages.change_address(as_alice, "send", "third@example.org")
    assert sent.headers["Location"] == pages.EMAIL


# Guests


GUESTS_PAGES = [
    *(pages.EMAIL, pages.TOKENS, pages.CONFIRM, pages.CHANGE, pages.SET, pages.FACTORS, pages.CONFIRM_BY_CODE),
    *(pages.SET_UP, pages.TURN_OFF, pages.CODES, f"{pages.CODES}download/", pages.MAKE_CODES),
]


@pytest.mark.parametrize("page", GUESTS_PAGES)
def test_a_guest_who_has_no_password_signs_up_first(db: None, page: str) -> None:
    guest = actions.create_guest()
    browser = logged_in(guest)
    form = {"email": "thief@example.org", "action_add": "", "name": "mine", **pages.NEW_PASSWORD}
    for answer in (browser.get(page), browser.post(page, form)):
        assert answer.headers["Location"] == pages.SIGN_UP
    assert "Guests have no password" in browser.get(pages.SIGN_UP).content.decode()
    assert security_settings(guest)[0] == security_settings(guest)[3] == []  # type: ignore[index]  # rows
    guest.refresh_from_db()
    assert not guest.has_usable_password()


def test_signing_up_ends_the_tokens_and_other_sessions_of_the_guest(db: None) -> None:
    guest = actions.create_guest()
    token = api_token(guest)
    browser, other = logged_in(guest), logged_in(guest)
    thief = copied(browser)
    pages.sign_up(browser)
    assert who(browser) == "dora"
    assert User.objects.get() == guest
    assert (is_in(thief), is_in(other)) == (False, False)
    assert actions.use_token(token=token, now=timezone.now()) is None


# Another password


def works(token: str) -> bool:
    return actions.use_token(token=token, now=timezone.now()) is not None


@pytest.mark.parametrize(("ticked", "left"), [({"revoke_tokens": "on"}, False), ({}, True)])
def test_changing_the_password_revokes_tokens_if_ticked(
    alice: User, bob: User, ticked: dict[str, str], left: bool
) -> None:
    token, other, browser = api_token(alice), api_token(bob), logged_in(alice)
    page = browser.get(pages.CHANGE).content.decode()
    assert page[page.index('name="revoke_tokens"') :].partition(">")[0].rstrip().endswith("checked")
    assert "logged out everywhere else" in page
    assert pages.change_password(browser, **ticked) == 302
    assert works(token) is left
    assert works(other)


def test_changing_the_password_logs_out_everywhere_else_unless_it_is_refused(alice: User, bob: User) -> None:
    browser, other, bobs, token = logged_in(alice), logged_in(alice), logged_in(bob), api_token(alice)
    thief = copied(browser)
    assert pages.change_password(browser, oldpassword="wrong", revoke_tokens="on") == 200
    assert (is_in(browser), is_in(other), works(token)) == (True, True, True)
    assert pages.change_password(browser) == 302
    assert (is_in(browser), is_in(other), is_in(thief), is_in(bobs)) == (True, False, False, True)
    assert Session.objects.filter(user=alice).count() == 1


def test_an_address_added_before_a_reset_cannot_be_confirmed_after_it(alice: User, addresses: None) -> None:
    link = pages.confirmation_link(EmailAddress.objects.get(email="third@example.org"))
    assert pages.reset_password(Client(), pages.reset_link(alice)) == 302
    Client().post(link)
    assert stored_addresses(alice, "verified") == KEPT


@pytest.mark.parametrize("ticked", [None, ["alice@example.org", "second@example.org"]])
def test_a_change_of_password_removes_addresses_that_are_not_ticked(
    alice: User, addresses: None, ticked: list[str] | None
) -> None:
    link = pages.confirmation_link(EmailAddress.objects.get(email="third@example.org"))
    mails.queue(kind=mails.CONFIRM, address="third@example.org", user=alice, now=timezone.now())
    browser = logged_in(alice)
    assert pages.change_password(browser, ticked) == 302
    assert "third@example.org" in browser.get(pages.ACCOUNT).content.decode()  # the message names it
    assert NOTHING_WORKS in Client().get(link).content.decode()
    assert Client().post(link).status_code == 404
    assert stored_addresses(alice, "verified") == KEPT
    assert not mails.has_content(AccountMail.objects.get(kind=mails.CONFIRM))  # a mail that waits is not sent


@pytest.mark.parametrize("primary", ["alice", "thief"])
@pytest.mark.parametrize("confirmed", [None, "alice"])
@pytest.mark.parametrize("first", ["alice", "thief"])
def test_a_change_of_password_keeps_the_ticked_address_only(
    alice: User, primary: str, confirmed: str | None, first: str
) -> None:
    for name in sorted(("alice", "thief"), key=lambda name: name != first):
        claim(alice, f"{name}@example.org", primary=name == primary, verified=name == confirmed)
    User.objects.filter(pk=alice.pk).update(email=f"{primary}@example.org")
    assert pages.change_password(logged_in(alice), ["alice@example.org"]) == 302
    assert stored_addresses(alice, "primary", "verified") == [("alice@example.org", True, confirmed == "alice")]
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"
    assert queries.accounts_of("thief@example.org") == []
    assert queries.accounts_of("alice@example.org") == [alice]


@pytest.mark.parametrize("second_is_confirmed", [True, False])
def test_a_change_of_password_asks_which_addresses_are_mine_and_keeps_a_confirmed_one(
    alice: User, second_is_confirmed: bool
) -> None:
    confirmed(alice)
    claim(alice, "second@example.org", verified=second_is_confirmed)
    browser, both = logged_in(alice), ["alice@example.org", "second@example.org"]
    boxes = re.findall(r'<input[^>]*name="mine"[^>]*>', browser.get(pages.CHANGE).content.decode())
    assert [re.findall('value="([^"]*)"', box)[0] for box in boxes] == both
    assert ["checked" in box for box in boxes] == [second_is_confirmed] * 2
    not_confirmed = [] if second_is_confirmed else [["second@example.org"]]
    for refused in ([], ["stranger@example.org"], ["none"], ["none", "alice@example.org"], *not_confirmed):
        assert pages.change_password(browser, refused) == 200, refused
    assert queries.addresses_of(alice) == both
    assert queries.accounts_of("alice@example.org") == [alice]
    assert is_in(browser)


def test_a_change_of_password_can_remove_all_addresses_if_none_is_confirmed(alice: User) -> None:
    claim(alice, primary=True)
    browser = logged_in(alice)
    assert 'value="none"' in browser.get(pages.CHANGE).content.decode()
    for refused in ([], ["none", "alice@example.org"], ["stranger@example.org"]):
        assert pages.change_password(browser, refused) == 200, refused
    assert is_in(browser)
    assert pages.change_password(browser, ["none"]) == 302
    alice.refresh_from_db()
    assert (alice.email, queries.addresses_of(alice)) == ("", [])
    assert queries.accounts_of("alice@example.org") == []


def test_a_new_password_ends_earlier_links_to_confirm_the_primary_address(alice: User) -> None:
    address = claim(alice, primary=True)
    link = pages.confirmation_link(address)
    pages.change_password(logged_in(alice), ["alice@example.org"])
    assert Client().post(link).status_code == 404
    address.user.refresh_from_db()
    Client().post(pages.confirmation_link(address))
    assert EmailAddress.objects.get(user=alice).verified


def test_confirming_an_address_is_told_to_those_confirmed_before(alice: User, addresses: None) -> None:
    Client().post(pages.confirmation_link(EmailAddress.objects.get(email="third@example.org")))
    told = AccountMail.objects.filter(kind=mails.CONFIRMED).order_by("address").values_list("address", "facts")
    facts = {"confirmed_email": "third@example.org"}
    assert list(told) == [("alice@example.org", facts), ("second@example.org", facts)]


@pytest.mark.parametrize("by", ["a new password", "a removal"])
def test_a_confirmation_that_was_overtaken_is_refused(alice: User, by: str) -> None:
    number = claim(alice, primary=True).pk
    waiting = EmailAddress.objects.select_related("user").get(pk=number)  # as a request that waits for the lock read it
    if by == "a removal":
        EmailAddress.objects.all().delete()
    else:
        pages.change_password(logged_in(alice), ["alice@example.org"])
    with pytest.raises(Http404):
        AccountAdapter().confirm_email(RequestFactory().post("/"), waiting)
    assert not EmailAddress.objects.filter(verified=True).exists()


@pytest.mark.parametrize(
    ("change", "page"),
    [({"is_active": False}, "/accounts/inactive/"), ({"password": "another"}, pages.LOG_IN)],
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
    answer = pages.log_in(Client())
    assert answer.headers["Location"] == page
    assert not Session.objects.filter(user=alice).exists()


def test_a_request_that_waited_while_its_account_was_closed_makes_no_token(alice: User) -> None:
    waiting = User.objects.get(pk=alice.pk)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    with pytest.raises(actions.AccountChanged):
        actions.create_token(user=waiting, name="thief", now=timezone.now())
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("primary", ["alice", "thief"])
def test_a_reset_keeps_only_the_address_of_its_mail_if_none_is_confirmed(alice: User, primary: str) -> None:
    claims = [claim(alice, f"{name}@example.org", primary=name == primary) for name in ("thief", "alice")]
    User.objects.filter(pk=alice.pk).update(email=f"{primary}@example.org")
    alice.refresh_from_db()
    confirmation = pages.confirmation_link(EmailAddress.objects.get(pk=claims[0].pk))
    assert pages.reset_password(Client(), pages.reset_link(alice, "alice@example.org")) == 302
    Client().post(confirmation)
    assert stored_addresses(alice, "primary", "verified") == [("alice@example.org", True, False)]
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"


def test_a_reset_link_that_ends_while_its_form_is_open_changes_nothing(alice: User, addresses: None) -> None:
    browser, link = Client(), pages.reset_link(alice, "second@example.org")
    page = browser.get(link).headers["Location"]
    with mock.patch.object(ResetPassword, "is_valid", remove_address_first):
        answer = browser.post(page, pages.NEW_PASSWORD)
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
    assert pages.reset_password(browser, pages.reset_link(alice)) == 302
    assert (is_in(before), is_in(browser), is_in(bobs)) == (False, False, True)
    assert not any(works(token) for token in tokens)
    assert works(other)
    assert not Session.objects.filter(user=alice).exists()
    page = browser.get("/accounts/password/reset/key/done/").content.decode()
    assert "You are logged out everywhere, all API tokens of the account are revoked, and addresses that" in page
    assert "Your password was changed." in page
    alice.refresh_from_db()
    assert alice.check_password(pages.PASSWORD)


@pytest.mark.parametrize("what", ["a new password", "its use", "a removal", "the confirmation of another"])
def test_a_reset_link_is_ended_by(alice: User, what: str) -> None:
    claim(alice, primary=True)
    second = claim(alice, "second@example.org")
    link = pages.reset_link(alice, second.email)
    if what == "the confirmation of another":
        EmailAddress.objects.filter(email=alice.email).update(verified=True)
    else:
        EmailAddress.objects.update(verified=True)
    if what == "a new password":
        pages.change_password(logged_in(alice))
    elif what == "its use":
        pages.reset_password(Client(), link)
    elif what == "a removal":
        pages.change_address(confirmed_browser(alice), "remove", second.email)
    before = security_settings(alice)
    page = Client().get(link)
    assert page.status_code == 200
    assert NOTHING_WORKS in page.content.decode()
    assert security_settings(alice) == before


def test_saving_a_password_keeps_other_changes(alice: User) -> None:
    browser = logged_in(alice)
    stale = User.objects.get(pk=alice.pk)
    User.objects.filter(pk=alice.pk).update(muted_until=timezone.now())
    AccountAdapter().set_password(stale, pages.PASSWORD)
    alice.refresh_from_db()
    assert alice.muted_until is not None
    assert alice.check_password(pages.PASSWORD)
    assert not is_in(browser)


@pytest.mark.parametrize("end", ["another password", "everywhere else"])
def test_a_thief_cannot_use_up_the_limits_of_the_owner(alice: User, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr(settings, "RATE_LIMITS", 10)  # one form of each kind a minute
    thief, owner = logged_in(alice), logged_in(alice)
    for _ in range(2):
        answers = thief.post(pages.LOG_INS), thief.post(pages.CHANGE)
    assert {answer.status_code for answer in answers} == {429}
    if end == "another password":
        assert pages.change_password(owner) == 302
    else:
        owner.post(pages.CONFIRM, {"password": "alice"})
        assert owner.post(pages.LOG_INS, {"end": "others"}).status_code == 303
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
    answer = client.post(pages.SET_UP, {"code": "123456"})
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith(pages.LOG_IN)
    assert not Session.objects.exists()
