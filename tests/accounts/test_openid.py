"""People log in, sign up and confirm with the OpenID provider of the operator, over HTTP."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import actions, invitations, openid
from accounts.adapter import PENDING_SIGN_UP
from accounts.models import Session, SignUpInvitation, User
from games.actions import deletion
from games.models import Seat
from games.staff import people
from nomercy.launcher.place import CHECKOUT
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import claim, who
from tests.support.codes import totp
from tests.support.openid import (
    CALLBACK,
    DORA,
    LOG_IN,
    NAME,
    SIGN_UP,
    Provider,
    at_provider,
    begin,
    go_through,
    linked,
    sent_to,
)
from tests.support.pages import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.long]

FORM: Final = {"username": "dora", "email": "dora@example.org", "time_zone": "Europe/Oslo"}
ENTER: Final = pages.ENTER_CODE


# The buttons


@pytest.mark.parametrize("path", [pages.LOG_IN, pages.SIGN_UP])
def test_the_pages_have_a_button_that_posts(client: Client, provider: Provider, path: str) -> None:
    page = client.get(f"{path}?next=/rules/")
    form = re.search(rf'action="{LOG_IN}">(.*?)</form>', page.content.decode(), re.DOTALL)
    assert form is not None
    assert f"Log in with {NAME}" in text_of(page)
    assert "csrfmiddlewaretoken" in form[1]
    assert '<input type="hidden" name="next" value="/rules/">' in form[1]
    for method in (client.get, client.head):
        assert method(LOG_IN).status_code == 405
    assert not Session.objects.exists()
    assert provider.calls() == {}


# Who is found


def test_an_unknown_person_signs_up_and_logs_in_from_then_on(client: Client, provider: Provider) -> None:
    answer = go_through(client, next="/rules/")
    assert answer["Location"] == SIGN_UP
    assert who(client) == ""
    assert not User.objects.exists()
    page = client.get(SIGN_UP)
    assert page.status_code == 200
    for field, value in (("username", "dora"), ("email", "dora@example.org")):
        assert re.search(rf'name="{field}"[^>]* value="{value}"|value="{value}"[^>]* name="{field}"', str(page.content))
    assert "password" not in set(page.context["form"].fields)
    assert client.post(SIGN_UP, FORM)["Location"] == "/rules/"
    assert who(client) == "dora"
    dora = User.objects.get()
    assert (dora.time_zone, dora.is_guest, dora.has_usable_password()) == ("Europe/Oslo", False, False)
    again = Client()
    answer = go_through(again, next="/rules/")
    assert (answer.status_code, answer["Location"]) == (302, "/rules/")
    assert who(again) == "dora"
    assert PENDING_SIGN_UP not in client.session


def test_an_identity_is_the_issuer_and_the_subject(
    client: Client, provider: Provider, dora: User, settings: Any
) -> None:
    provider.person["email"] = provider.person["preferred_username"] = "else@example.org"
    assert go_through(client)["Location"] == "/"
    assert who(client) == "dora"
    provider.person = {**DORA, "sub": "248289761001 "}
    assert go_through(Client())["Location"] == SIGN_UP
    provider.person = dict(DORA)
    SocialAccount.objects.update(provider="https://another.example.org")
    assert go_through(Client())["Location"] == SIGN_UP


@pytest.mark.parametrize("verified", [False, True])
def test_an_equal_address_neither_logs_in_nor_links(
    client: Client, provider: Provider, alice: User, *, verified: bool
) -> None:
    claim(alice, verified=verified, primary=True)
    provider.person |= {"email": alice.email, "preferred_username": "alice"}
    assert go_through(client)["Location"] == SIGN_UP
    assert who(client) == ""
    taken = client.post(SIGN_UP, {**FORM, "username": "alice", "email": alice.email})
    assert "A user with that username already exists." in text_of(taken)
    assert client.post(SIGN_UP, {**FORM, "email": alice.email}).status_code == 302
    assert not SocialAccount.objects.filter(user=alice).exists()
    dora = User.objects.get(username="dora")
    rows = set(EmailAddress.objects.filter(email=alice.email).values_list("user__username", "verified"))
    # Who has confirmed the address keeps it. An address that nobody has confirmed goes to who can show it.
    assert rows == {("alice", verified), ("dora", not verified)}
    assert EmailAddress.objects.filter(user=dora).count() == 1


@pytest.mark.parametrize(
    ("told", "typed", "confirmed"),
    [
        ({}, "dora@example.org", True),
        ({}, "DORA@Example.org", True),
        ({}, "another@example.org", False),
        ({}, "", None),
        ({"email_verified": False}, "dora@example.org", False),
        ({"email_verified": "true"}, "dora@example.org", False),
        ({"email_verified": None}, "dora@example.org", False),
        ({"email": 17}, "dora@example.org", False),
    ],
)
def test_an_address_is_confirmed_only_if_the_provider_says_so(
    client: Client, provider: Provider, told: dict[str, Any], typed: str, *, confirmed: bool | None
) -> None:
    provider.person |= told
    go_through(client)
    client.post(SIGN_UP, {**FORM, "email": typed})
    rows = list(EmailAddress.objects.values_list("verified", flat=True))
    assert rows == ([] if confirmed is None else [confirmed])


INVALID_ADDRESSES: Final = (
    *("\ud800@x.org", "d@\ud800.org", "d\x00@x.org", "d@x.org\r\nBcc: z@z.org", '"<b>"@x.org', "d@[127.0.0.1]"),
    *('"><script>alert(1)</script>@x.org', "no address", "d" * 250 + "@x.org"),
)


def test_an_invalid_address_is_not_suggested(client: Client, provider: Provider) -> None:
    for email in INVALID_ADDRESSES:
        provider.person["email"] = email
        assert go_through(client)["Location"] == SIGN_UP, ascii(email)
        assert client.session[PENDING_SIGN_UP]["email"] == "", ascii(email)
        page = client.get(SIGN_UP)
        assert (page.status_code, page.context["form"]["email"].value()) == (200, "")
    assert client.post(SIGN_UP, FORM).status_code == 302
    assert not EmailAddress.objects.get().verified


def test_an_address_that_is_confirmed_at_that_moment_is_not_confirmed_twice(
    client: Client, provider: Provider, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_through(client)
    EmailAddress.objects.create(user=alice, email="dora@example.org", verified=True)
    monkeypatch.setattr("accounts.openid.queries.holder_of", lambda email: None)
    assert client.post(SIGN_UP, FORM).status_code == 302
    dora = EmailAddress.objects.get(user__username="dora")
    assert (dora.email, dora.verified) == ("dora@example.org", False)


def test_where_addresses_must_be_confirmed_only_an_unconfirmed_one_gets_a_mail(
    provider: Provider, settings: Any
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION, settings.MAIL_NEEDS_VERIFIED = "mandatory", True
    first, second = Client(), Client()
    go_through(first)
    assert first.post(SIGN_UP, FORM)["Location"] == "/"
    assert (who(first), pages.new_mails()) == ("dora", [])
    provider.person = {"sub": "2", "email": "erik@example.org"}
    go_through(second)
    answer = second.post(SIGN_UP, {**FORM, "username": "erik", "email": "erik@example.org"})
    assert answer["Location"] == pages.CONFIRM_ADDRESS
    assert who(second) == ""
    assert "pbkdf2" not in str(dict(second.session))
    assert [letter.subject for letter in pages.new_mails()] == ["Confirm your email address"]
    provider.person = {"sub": "2"}
    assert go_through(Client())["Location"] == pages.CONFIRM_ADDRESS


# What is asked of somebody who signs up


def test_the_form_has_the_rules_of_the_site(client: Client, provider: Provider) -> None:
    go_through(client)
    for change, sentence in (
        ({"username": "admin"}, "This username is reserved."),
        ({"username": "a b"}, "Use 2-30 letters a-z, digits"),
        ({"username": ""}, "This field is required."),
        ({"email": "no address"}, "Enter a valid email address."),
        ({"time_zone": "Atlantis"}, "Select a valid choice."),
    ):
        assert sentence in text_of(client.post(SIGN_UP, {**FORM, **change}))
    assert not User.objects.exists()
    assert client.post(SIGN_UP, FORM).status_code == 302


def test_a_name_that_nobody_may_have_is_not_suggested(client: Client, provider: Provider) -> None:
    for name in ("admin", "Dora Example", "<b>", "x" * 31, "dora@example.org", "", None, 7, "y" * 50_000):
        provider.person["preferred_username"] = name
        go_through(client)
        suggested = client.get(SIGN_UP).context["form"].initial["username"]
        assert suggested == ("dora" if name == "dora@example.org" else ""), name


def test_a_closed_site_makes_nobody(client: Client, provider: Provider, alice: User, settings: Any) -> None:
    settings.REGISTRATION, settings.GUESTS, settings.LOGIN_REQUIRED = "closed", False, True
    assert f"Log in with {NAME}" in text_of(client.get("/accounts/login/"))
    answer = go_through(client)
    assert answer.status_code == 403
    assert "nobody was logged in, and nothing was stored" in text_of(answer)
    assert PENDING_SIGN_UP not in client.session
    settings.REGISTRATION = "open"
    go_through(client)
    settings.REGISTRATION = "closed"  # before the form is sent
    assert client.post(SIGN_UP, FORM).status_code == 403
    assert User.objects.count() == 1
    linked(alice, provider)
    assert go_through(Client())["Location"] == "/"


def invitation(by: User) -> str:
    return invitations.invite(user=by, note="", days=7, now=timezone.now())


def test_an_invitation_is_needed_where_it_is_for_others(
    client: Client, provider: Provider, alice: User, settings: Any
) -> None:
    settings.REGISTRATION, settings.INVITATIONS = "invite", "members"
    settings.GUESTS, settings.LOGIN_REQUIRED = False, True
    refused = go_through(client)
    assert refused.status_code == 403
    assert "you need an invitation" in text_of(refused)
    assert go_through(Client(), invitation="x" * 43).status_code == 403
    key = invitation(alice)
    page = client.get(f"/accounts/invitation/{key}/").content.decode()
    assert f'name="invitation" value="{key}"' in page[page.index(f'action="{LOG_IN}"') :]
    assert go_through(client, invitation=key)["Location"] == SIGN_UP
    assert key not in str(dict(client.session))
    assert SignUpInvitation.objects.get().used_at is None
    assert client.post(SIGN_UP, FORM).status_code == 302
    assert SignUpInvitation.objects.get().used_by == User.objects.get(username="dora")
    provider.person = {"sub": "2"}
    for browser in (Client(), Client()):
        assert go_through(browser, invitation=key).status_code == 410
    assert User.objects.count() == 2


@pytest.mark.parametrize("during_the_request", [False, True])
def test_an_invitation_that_ends_meanwhile_lets_nobody_in(
    client: Client,
    provider: Provider,
    alice: User,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    during_the_request: bool,
) -> None:
    settings.REGISTRATION, settings.INVITATIONS = "invite", "members"
    go_through(client, invitation=invitation(alice))
    use = invitations.use

    def use_late(**arguments: Any) -> None:
        SignUpInvitation.objects.update(used_at=timezone.now())
        use(**arguments)

    if during_the_request:
        monkeypatch.setattr(invitations, "use", use_late)
    else:
        SignUpInvitation.objects.update(revoked_at=timezone.now())
        assert client.get(SIGN_UP).status_code == 410
    assert client.post(SIGN_UP, FORM).status_code == 410
    assert User.objects.get() == alice


def test_the_limits_of_signing_up_hold_and_lose_nothing(
    client: Client, provider: Provider, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.RATE_LIMITS = 5
    go_through(client)
    pages.sign_up(Client(), "one")
    assert User.objects.count() == 1
    answer = client.post(SIGN_UP, FORM)
    assert (answer.status_code, "new accounts from your network" in text_of(answer)) == (429, True)
    settings.RATE_LIMITS = 0
    assert client.post(SIGN_UP, FORM).status_code == 302


def test_the_same_person_in_two_browsers_makes_one_account(client: Client, provider: Provider) -> None:
    other = Client()
    go_through(client)
    go_through(other)
    assert client.post(SIGN_UP, FORM).status_code == 302
    answer = other.post(SIGN_UP, {**FORM, "username": "erik"}, follow=True)
    assert "You have just created an account with this account of Village Login" in text_of(answer)
    assert list(User.objects.values_list("username", flat=True)) == ["dora"]


def test_a_log_in_forgets_a_sign_up(client: Client, provider: Provider, alice: User) -> None:
    go_through(client)
    assert PENDING_SIGN_UP in client.session
    pages.log_in(client)
    assert who(client) == "alice"
    assert PENDING_SIGN_UP not in client.session
    assert client.post(SIGN_UP, FORM)["Location"] == "/accounts/login/"
    assert User.objects.count() == 1


def test_a_sign_up_that_was_left_open_ends(client: Client, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    go_through(client)
    now = time.time()
    monkeypatch.setattr("accounts.openid.time.time", lambda: now + openid.PENDING_SECONDS + 1)
    for answer in (client.post(SIGN_UP, FORM), client.get(SIGN_UP)):
        assert answer["Location"] == "/accounts/login/"
    assert PENDING_SIGN_UP not in client.session
    assert not User.objects.exists()


# Guests


@pytest.mark.parametrize("with_factor", [False, True])
def test_a_guest_who_logs_in_is_asked_about_the_games(
    client: Client, provider: Provider, dora: User, with_factor: bool
) -> None:
    client.post("/play-now/")
    assert Seat.objects.filter(user__is_guest=True).exists()
    if with_factor:
        TOTP.activate(dora, pages.SECRET)
    answer = go_through(client)
    if with_factor:
        assert answer["Location"] == ENTER
        assert client.get(ENTER).status_code == 200
        answer = client.post(ENTER, {"code": totp(pages.SECRET)})
    assert (who(client), answer["Location"]) == ("dora", pages.MOVE_SEATS)
    client.post(pages.MOVE_SEATS, {"answer": "move"})
    assert Seat.objects.filter(user=dora).exists()


def test_a_muted_guest_chooses_no_name(client: Client, provider: Provider) -> None:
    client.post("/play-now/")
    go_through(client)
    User.objects.update(muted_until=timezone.now() + timedelta(days=3))
    assert "You can sign up from" in text_of(client.get(SIGN_UP))
    assert "You can choose a name again from" in text_of(client.post(SIGN_UP, FORM))
    assert User.objects.get().is_guest


def test_a_guest_who_has_signed_up_meanwhile_is_told(client: Client, provider: Provider) -> None:
    client.post("/play-now/")
    go_through(client)
    guest = User.objects.get()
    lock = actions.lock_guest

    def meanwhile(user_id: int) -> User:
        User.objects.filter(pk=guest.pk).update(is_guest=False)
        return lock(user_id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(actions, "lock_guest", meanwhile)
        answer = client.post(SIGN_UP, FORM)
    assert "You have just created an account for this guest" in text_of(answer)
    assert not SocialAccount.objects.exists()


def test_a_guest_who_signs_up_keeps_the_games(client: Client, provider: Provider) -> None:
    client.post("/play-now/")
    guest = User.objects.get()
    other = logged_in(guest)
    assert go_through(client)["Location"] == SIGN_UP
    assert "Keep your games" in text_of(client.get(SIGN_UP))
    assert client.post(SIGN_UP, FORM)["Location"] == "/"
    stored = User.objects.get()
    assert (stored.pk, stored.username, stored.is_guest) == (guest.pk, "dora", False)
    assert (who(client), who(other)) == ("dora", "")
    assert Seat.objects.filter(user=stored).exists()


def test_a_guest_who_has_to_confirm_the_address_is_logged_out_and_can_correct_it_at_once(
    client: Client, provider: Provider, settings: Any
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION, settings.MAIL_NEEDS_VERIFIED = "mandatory", True
    provider.person["email_verified"] = False
    client.post("/play-now/")
    go_through(client)
    assert client.post(SIGN_UP, FORM)["Location"] == pages.CONFIRM_ADDRESS
    assert who(client) == ""
    assert User.objects.get().username == "dora"
    assert client.post(pages.CONFIRM_ADDRESS, {"email": "right@example.org"})["Location"] == pages.CONFIRM_ADDRESS
    assert EmailAddress.objects.get().email == "right@example.org"
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0  # the same session a few minutes later
    assert client.post(pages.CONFIRM_ADDRESS, {"email": "thief@example.org"})["Location"] == "/accounts/login/"


# What a log-in by password asks for, this one asks for too


def test_a_second_factor_is_still_asked_for(client: Client, provider: Provider, dora: User) -> None:
    TOTP.activate(dora, pages.SECRET)
    assert go_through(client)["Location"] == ENTER
    assert who(client) == ""
    client.post(ENTER, {"code": totp(pages.SECRET)})
    assert who(client) == "dora"


def test_staff_pages_still_ask_for_their_second_factor(client: Client, provider: Provider, mo: User) -> None:
    linked(mo, provider)
    go_through(client)
    assert who(client) == "mo"
    assert client.get("/admin/")["Location"].startswith("/admin/login/")
    assert client.get("/admin/login/")["Location"] == "/accounts/2fa/totp/activate/"
    assert client.get("/accounts/2fa/totp/activate/")["Location"].startswith("/accounts/reauthenticate/")


def test_a_closed_account_or_one_whose_deletion_has_begun_stays_closed(
    client: Client, provider: Provider, dora: User
) -> None:
    User.objects.update(deletion_begun=True)
    assert "has just been deleted" in text_of(client.get(go_through(client)["Location"]))
    User.objects.update(is_active=False, deletion_begun=False)
    assert go_through(client)["Location"] == "/accounts/inactive/"
    assert who(client) == ""


def test_a_suspended_person_reads_why(client: Client, provider: Provider, dora: User, ann: User) -> None:
    people.suspend(person_id=dora.pk, by=ann, days=3, reason="To see what happens", now=timezone.now())
    answer = go_through(client)
    assert client.get(answer["Location"])["Location"] == "/suspended/"


def test_a_log_in_cancels_the_deletion(client: Client, provider: Provider, dora: User) -> None:
    deletion.ask(user=User.objects.get(pk=dora.pk), now=timezone.now())
    answer = client.get(go_through(client)["Location"])
    assert "you have cancelled the deletion" in text_of(answer)
    assert User.objects.get(pk=dora.pk).deletes_at is None


def test_an_account_that_is_deleted_is_not_found_any_more(client: Client, provider: Provider, dora: User) -> None:
    deletion.ask(user=User.objects.get(pk=dora.pk), now=timezone.now() - timedelta(days=15))
    assert deletion.delete(user_id=dora.pk, now=timezone.now())
    assert not SocialAccount.objects.exists()
    assert go_through(client)["Location"] == SIGN_UP


def test_a_log_in_that_was_begun_before_the_unlinking_is_refused(
    client: Client, provider: Provider, dora: User
) -> None:
    TOTP.activate(dora, pages.SECRET)
    go_through(client)
    User.objects.filter(pk=dora.pk).update(session_mark="another")  # as `log_ins.end_elsewhere` does
    client.post(ENTER, {"code": totp(pages.SECRET)})
    assert who(client) == ""


def test_a_log_in_by_another_account_leaves_the_first(
    client: Client, provider: Provider, dora: User, alice: User
) -> None:
    browser = logged_in(alice)
    go_through(browser)
    assert who(browser) == "dora"


def test_nobody_is_led_elsewhere(client: Client, provider: Provider, dora: User) -> None:
    for page in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "/" + "x" * 1001):
        assert go_through(client, next=page)["Location"] == "/", page


# What is sent to the provider, and what is accepted from it


def test_state_nonce_and_pkce_are_new_each_time_and_bound_to_the_session(client: Client, provider: Provider) -> None:
    sent = [parse_qs(urlsplit(sent_to(client.post(LOG_IN))).query) for _ in range(2)]
    for name in ("state", "nonce", "code_challenge"):
        first, second = (one[name][0] for one in sent)
        assert len(first) >= 16
        assert first != second
    assert sent[0]["code_challenge_method"] == ["S256"]
    assert sent[0]["redirect_uri"] == [f"http://127.0.0.1:8000{CALLBACK}"]
    assert set(sent[0]["scope"][0].split()) == {"openid", "email", "profile"}
    asked = client.post(f"{LOG_IN}?scope=admin&auth_params=prompt%3Dnone&process=connect", HTTP_HOST="127.0.0.1")
    query = parse_qs(urlsplit(sent_to(asked)).query)
    assert "admin" not in query["scope"][0]
    assert "prompt" not in query
    assert query["redirect_uri"] == sent[0]["redirect_uri"]


WRONG_CLAIMS: Final[tuple[dict[str, Any], ...]] = (
    *({"nonce": "another"}, {"nonce": None}, {"nonce": "\ud800"}, {"iss": "https://another.example.org"}),
    *({"aud": "another"}, {"aud": ["no-mercy", "another"]}, {"aud": ["no-mercy", "another"], "azp": "another"}),
    *({"exp": 1_000_000_000}, {"exp": None}, {"iat": None}, {"sub": None}, {"sub": ""}, {"sub": 17}),
    *({"sub": "x" * 192}, {"sub": "a\x00b"}),
)


def test_an_id_token_with_a_wrong_claim_proves_nothing(provider: Provider, dora: User) -> None:
    for provider.claims in WRONG_CLAIMS:
        browser = Client()
        answer = go_through(browser)
        assert answer.status_code == 502, ascii(provider.claims)
        assert "an answer that we can’t use" in text_of(answer)
        assert who(browser) == ""


def test_an_id_token_may_have_a_list_of_audiences(provider: Provider, dora: User) -> None:
    for provider.claims in ({"aud": ["no-mercy"]}, {"aud": ["no-mercy", "another"], "azp": "no-mercy"}):
        browser = Client()
        go_through(browser)
        assert who(browser) == "dora", provider.claims


def test_an_id_token_with_another_signature_proves_nothing(client: Client, provider: Provider, dora: User) -> None:
    for header in ({"alg": "none"}, {"alg": "HS256"}, {"kid": "second"}):
        provider.header = {"kid": "first", **header}
        assert go_through(client).status_code == 502, header
    provider.header, provider.keys = {"kid": "first"}, ["second", "third"]
    caches["process"].clear()
    assert go_through(client).status_code == 502
    assert who(client) == ""


def test_a_new_key_of_the_provider_is_asked_for(client: Client, provider: Provider, dora: User) -> None:
    go_through(Client())  # so that the keys are known
    provider.keys, provider.header = ["first", "second"], {"kid": "second"}
    assert go_through(client)["Location"] == "/"


@pytest.mark.parametrize(
    ("claims", "userinfo"),
    [({"email_verified": True}, {"email_verified": False}), ({"email": "dora@example.org"}, {"email_verified": True})],
    ids=str,
)
def test_an_address_is_not_confirmed_by_what_is_said_of_another(
    client: Client, provider: Provider, claims: dict[str, Any], userinfo: dict[str, Any]
) -> None:
    provider.email_in_token = False
    provider.claims, provider.userinfo = claims, userinfo
    go_through(client)
    client.post(SIGN_UP, FORM)
    assert EmailAddress.objects.get().verified is False


def test_a_session_that_ends_during_the_callback_leads_to_the_log_in_page(
    client: Client, provider: Provider, dora: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = begin(client)
    read = statekit.get_states

    def end(request: Any) -> Any:
        found = read(request)
        Session.objects.all().delete()
        return found

    monkeypatch.setattr(statekit, "get_states", end)
    assert client.get(there)["Location"].startswith("/accounts/login/")
    assert who(client) == ""


def test_facts_come_from_userinfo_if_the_token_has_none(client: Client, provider: Provider) -> None:
    provider.email_in_token = False
    provider.discovery = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    go_through(client)
    client.post(SIGN_UP, FORM)
    assert EmailAddress.objects.get().verified
    assert provider.calls()["/userinfo"] == 1
    provider.userinfo = {"sub": "another"}
    assert go_through(Client()).status_code == 502


def test_a_callback_works_once_and_only_in_its_browser(client: Client, provider: Provider, dora: User) -> None:
    there = begin(client)
    for browser in (Client(), logged_in(dora)):
        answer = browser.get(there)
        assert (answer.status_code, "not begun in this browser" in text_of(answer)) == (400, True)
    assert client.get(there)["Location"] == "/"
    calls = provider.calls()
    answer = client.get(there)
    assert (answer.status_code, "it is complete already" in text_of(answer)) == (400, True)
    assert who(client) == "dora"
    assert provider.calls() == calls


def test_of_two_callbacks_at_once_the_second_is_refused_by_the_provider(
    client: Client, provider: Provider, dora: User
) -> None:
    there = begin(client)
    state = dict(client.session)
    client.get(there)
    second = Client()
    second.post(LOG_IN)
    session = second.session
    session["socialaccount_states"] = state["socialaccount_states"]
    session.save()
    assert second.get(there).status_code == 400
    assert who(second) == ""


def test_a_callback_that_nobody_has_begun_is_refused_and_stores_nothing(client: Client, provider: Provider) -> None:
    long = "?state=x&state=y&code=" + "z" * 5000
    for query in ("", "?state=", "?state=x&code=y", "?code=y", "?error=access_denied", long):
        assert client.get(CALLBACK + query).status_code == 400, query
    assert not Session.objects.exists()
    assert provider.calls() == {}


def test_a_callback_from_another_issuer_or_after_ten_minutes_is_refused(
    client: Client, provider: Provider, dora: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = begin(client)
    assert client.get(re.sub(r"iss=[^&]+", "iss=https://another.example.org", there)).status_code == 400
    there = begin(client)
    now = time.time()
    monkeypatch.setattr("allauth.socialaccount.internal.statekit.time.time", lambda: now + 601)
    assert client.get(there).status_code == 400
    assert who(client) == ""


def test_an_error_of_the_provider_or_no_code_gets_a_page(client: Client, provider: Provider) -> None:
    for error, status in (
        *(("access_denied", 302), ("server_error", 503), ("temporarily_unavailable", 503), ("login_required", 502)),
        *(("<b>", 502), ("", 502)),
    ):
        sent = {"error": error, "error_description": "<script>"} if error else {}
        state = parse_qs(urlsplit(begin(client)).query)["state"][0]
        answer = client.get(CALLBACK, {"state": state, **sent})
        assert answer.status_code == status, error
        if status == 302:
            assert "or you have cancelled" in text_of(client.get(answer["Location"]))


def test_a_page_leads_to_the_endpoint_wherever_it_is(client: Client, provider: Provider) -> None:
    elsewhere = provider.url.replace("127.0.0.1", "localhost")
    provider.discovery = {"authorization_endpoint": f"{elsewhere}/authorize?tenant=village"}
    answer = client.post(LOG_IN)
    assert sent_to(answer).startswith(elsewhere)
    link = re.search(r'<a class="button primary" href="([^"]+)">Continue</a>', answer.content.decode())
    assert link is not None
    assert link[1].startswith(elsewhere)
    assert client.get(at_provider(link[1].replace("&amp;", "&")))["Location"] == SIGN_UP


# What is stored


def test_nothing_of_the_provider_is_stored_but_the_subject(client: Client, provider: Provider) -> None:
    provider.person["phone_number"] = "+47 99 99 99 99"
    go_through(client)
    client.post(SIGN_UP, FORM)
    go_through(client)
    row = SocialAccount.objects.get()
    assert (row.provider, row.uid, row.extra_data) == (provider.url, DORA["sub"], {})
    assert not SocialToken.objects.exists()
    assert not SocialApp.objects.exists()
    assert "access-" not in str(dict(client.session))


def test_staff_pages_have_no_page_of_it() -> None:
    assert not [model for model in admin.site._registry if model._meta.app_label == "socialaccount"]


# Without a provider


def test_without_the_settings_there_is_no_such_page(client: Client, alice: User, settings: Any) -> None:
    assert settings.OIDC_ISSUER == ""
    as_alice = logged_in(alice)
    for name in ("openid_login", "openid_callback", "socialaccount_signup", "openid_confirm", "openid_link",
                 "openid_unlink", "socialaccount_connections"):  # fmt: skip
        for browser in (client, as_alice):
            for method in (browser.get, browser.head, browser.post, browser.put):
                assert method(reverse(name)).status_code == 404, name
    for browser, page in ((client, pages.LOG_IN), (client, pages.SIGN_UP), (as_alice, pages.ACCOUNT)):
        assert "/accounts/oidc/" not in browser.get(page).content.decode()


def test_a_site_without_a_provider_loads_nothing_of_it() -> None:
    code = (
        "import sys, django; django.setup()\n"
        "from django.urls import get_resolver; get_resolver().url_patterns\n"
        "print([name for name in ('accounts.openid', 'requests') if name in sys.modules])"
    )
    variables = {"DJANGO_SETTINGS_MODULE": "nomercy.settings", "NOMERCY_ENV_FILE": "", "SECRET_KEY": "k" * 40}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, env=variables, capture_output=True, text=True, check=True
    )
    assert run.stdout == "[]\n"
