"""Passkeys: added, used as a second factor, used alone to log in, and removed."""

from __future__ import annotations

import json
import os
from http.cookies import SimpleCookie
from typing import Any, Final

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import get_user
from django.test import Client
from fido2.cose import CoseKey
from fido2.utils import websafe_encode
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from accounts import actions, passkeys, queries
from accounts.models import User
from accounts.passkeys import (
    LAST_WAY,
    LONGEST_ANSWER,
    LONGEST_NAME,
    MOST,
    NEEDS_MORE,
    NOT_ACCEPTED,
    TOO_MANY,
)
from accounts.password_forms import replace_password
from tests.conftest import logged_in
from tests.support.codes import confirmed_browser, totp
from tests.support.pages import text_of
from tests.support.passkeys import FLAG, Device

SITE: Final = "https://cards.example.org"
FACTORS, ADD, LOG_IN = "/accounts/2fa/", "/accounts/2fa/webauthn/add/", "/accounts/2fa/webauthn/login/"
CONFIRM, ENTER, TOKENS = "/accounts/2fa/webauthn/reauthenticate/", "/accounts/2fa/authenticate/", "/accounts/me/tokens/"
JSON: Final = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def site(settings: Settings) -> None:
    settings.SITE_URL = SITE


def copied(browser: Client) -> Client:
    """Return another browser with a copy of this one's session."""
    copy = Client()
    copy.cookies = SimpleCookie({settings.SESSION_COOKIE_NAME: browser.cookies[settings.SESSION_COOKIE_NAME].value})
    return copy


def sent(answer: dict[str, Any], **more: object) -> dict[str, object]:
    return {"credential": json.dumps(answer), **more}


def added(browser: Client, device: Device, **more: object) -> Any:
    """Add the passkey of this device by the page. Return the response."""
    options = browser.get(ADD).context["js_data"]["creation_options"]
    return browser.post(ADD, sent(device.add(options), name="Phone") | more)


def returning(user: User) -> Client:
    """Return a browser that this user has just logged in to, without a confirmation."""
    return logged_in(User.objects.get(pk=user.pk))


def device_of(user: User) -> Device:
    """Return a device whose passkey this user has added."""
    device = Device(SITE)
    assert added(confirmed_browser(user), device).status_code == 302
    return device


def asked(browser: Client) -> dict[str, Any]:
    """Return what the log-in page asks a device to sign."""
    options: dict[str, Any] = browser.get(LOG_IN, headers=JSON).json()["request_options"]
    return options


@pytest.mark.parametrize(
    ("url", "possible"),
    [
        (SITE, True), ("https://cards.example.org:8443", True), ("http://localhost:8000", True),
        ("http://cards.localhost", True), ("http://cards.example.org", False), ("http://127.0.0.1:8000", False),
        ("https://192.0.2.1", False), ("https://[2001:db8::1]", False),
    ],
)  # fmt: skip
def test_where_browsers_allow_passkeys(settings: Settings, url: str, possible: bool) -> None:
    settings.SITE_URL = url
    assert passkeys.are_possible() is possible


def test_where_none_are_possible_the_pages_say_so(alice: User, settings: Settings) -> None:
    settings.SITE_URL = "http://127.0.0.1:8000"
    assert "passkey" not in Client().get("/accounts/login/").content.decode().lower()
    browser = confirmed_browser(alice)
    assert "Browsers allow passkeys only with https" in text_of(browser.get(ADD))
    assert "Add a passkey" not in text_of(browser.get(FACTORS))


def test_the_first_passkey_makes_recovery_codes_and_ends_other_sessions(alice: User) -> None:
    other, browser = logged_in(alice), confirmed_browser(alice)
    answer = added(browser, Device(SITE))
    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/2fa/recovery-codes/")
    assert get_user(browser) == alice
    assert not get_user(other).is_authenticated
    kinds = set(Authenticator.objects.filter(user=alice).values_list("type", flat=True))
    assert kinds == {"webauthn", "recovery_codes"}
    page = text_of(browser.get(FACTORS))
    assert "Phone Added" in page
    assert "Your password alone is not enough to log in." in page


def test_another_passkey_keeps_codes_and_sessions(alice: User) -> None:
    browser = confirmed_browser(alice)
    added(browser, Device(SITE))
    browser.get("/accounts/2fa/recovery-codes/")
    codes = Authenticator.objects.get(user=alice, type="recovery_codes").data
    answer = added(browser, Device(SITE), name="Key")
    assert answer.headers["Location"] == FACTORS
    assert Authenticator.objects.get(user=alice, type="recovery_codes").data == codes
    assert [one.data["name"] for one in queries.passkeys_of(alice)] == ["Phone", "Key"]


def test_a_passkey_needs_a_confirmation(alice: User) -> None:
    browser = logged_in(alice)
    for answer in (browser.get(ADD), browser.post(ADD, sent({}))):
        assert answer.headers["Location"] == f"/accounts/reauthenticate/?next={ADD.replace('/', '%2F')}"
    assert not Authenticator.objects.exists()


def test_only_what_is_needed_is_stored(alice: User) -> None:
    browser, device = confirmed_browser(alice), Device(SITE)
    answer = device.add(browser.get(ADD).context["js_data"]["creation_options"])
    junk = {"more": "x" * 1000, "nul": "\0", "authenticatorAttachment": "platform"}
    assert browser.post(ADD, sent(answer | junk, name="Phone")).status_code == 302
    stored = queries.passkeys_of(alice).get().data
    assert stored["credential"] == answer
    assert set(stored) == {"name", "credential"}


def test_a_passkey_logs_in_alone(alice: User) -> None:
    device, browser = device_of(alice), Client()
    answer = browser.post(LOG_IN, sent(device.use(asked(browser)), next="/about/"))
    assert (answer.status_code, answer.headers["Location"]) == (302, "/about/")
    assert get_user(browser) == alice
    assert queries.passkeys_of(alice).get().last_used_at is not None


def test_an_answer_logs_in_once(alice: User) -> None:
    device, browser = device_of(alice), Client()
    answer = sent(device.use(asked(browser)))
    browser.post(LOG_IN, answer)
    browser.post("/accounts/logout/")
    browser.post(LOG_IN, answer)
    assert not get_user(browser).is_authenticated
    assert Client().post(LOG_IN, answer).headers["Location"] == "/accounts/login/"


def test_the_answer_for_another_browser_does_not_log_in(alice: User) -> None:
    device, victim, thief = device_of(alice), Client(), Client()
    answer = sent(device.use(asked(victim)))
    asked(thief)
    thief.post(LOG_IN, answer)
    assert not get_user(thief).is_authenticated


@pytest.mark.long
def test_a_passkey_logs_in_nobody_else(alice: User, bob: User) -> None:
    device, browser = device_of(alice), Client()
    answer = device.use(asked(browser))
    answer["response"]["userHandle"] = device_of(bob).user_handle
    browser.post(LOG_IN, sent(answer))
    assert not get_user(browser).is_authenticated


@pytest.mark.long
@pytest.mark.parametrize(
    ("device", "why"),
    [
        (Device("https://evil.example.org"), "another site"),
        (Device("http://cards.example.org"), "without https"),
        (Device("https://evil.cards.example.org"), "a subdomain"),
        (Device("https://cards.example.org:9999"), "another port"),
        (Device(SITE, flags=FLAG.UP), "the owner was not recognised"),
        (Device(SITE, flags=FLAG.UV), "the owner was not there"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_device_must_not_do(alice: User, device: Device, why: str) -> None:
    """Neither adding nor logging in works."""
    page = added(confirmed_browser(alice), device)
    assert page.status_code == 200
    assert NOT_ACCEPTED in text_of(page)
    assert not Authenticator.objects.exists()
    good = device_of(alice)
    wrong = Device(device.origin, device.flags, good.credential_id, good.key, good.user_handle)
    browser = Client()
    browser.post(LOG_IN, sent(wrong.use(asked(browser))))
    assert not get_user(browser).is_authenticated
    assert NOT_ACCEPTED in text_of(browser.get("/accounts/login/"))


def test_closed_and_suspended_people(alice: User) -> None:
    device, browser = device_of(alice), Client()
    User.objects.filter(pk=alice.pk).update(is_active=False)
    answer = browser.post(LOG_IN, sent(device.use(asked(browser))))
    assert answer.headers["Location"] == "/accounts/inactive/"
    assert not get_user(browser).is_authenticated


def test_a_passkey_is_the_second_factor_of_a_log_in(alice: User) -> None:
    device, browser = device_of(alice), Client()
    answer = browser.post("/accounts/login/", {"login": "alice", "password": "alice"})
    assert answer.headers["Location"] == ENTER
    page = browser.get(ENTER)
    assert "six digits" not in text_of(page)
    browser.post(ENTER, sent(device.use(page.context["js_data"]["request_options"])))
    assert get_user(browser) == alice


def test_a_passkey_of_somebody_else_is_no_second_factor(alice: User, bob: User) -> None:
    device_of(alice)
    stranger, browser = device_of(bob), Client()
    browser.post("/accounts/login/", {"login": "alice", "password": "alice"})
    page = browser.get(ENTER)
    refused = browser.post(ENTER, sent(stranger.use(page.context["js_data"]["request_options"])))
    assert NOT_ACCEPTED in text_of(refused)
    assert not get_user(browser).is_authenticated


@pytest.mark.long
def test_with_a_passkey_the_password_confirms_nothing(alice: User) -> None:
    device, browser = device_of(alice), returning(alice)
    asked_again = browser.get(TOKENS)
    assert asked_again.headers["Location"] == f"{CONFIRM}?next=%2Faccounts%2Fme%2Ftokens%2F"
    answer = browser.post("/accounts/reauthenticate/", {"password": "alice"})
    assert answer.headers["Location"].startswith(CONFIRM)
    page = browser.get(CONFIRM)
    assert "Use a code" in text_of(page)
    confirmed = browser.post(f"{CONFIRM}?next={TOKENS}", sent(device.use(page.context["js_data"]["request_options"])))
    assert confirmed.headers["Location"] == TOKENS
    assert browser.get(TOKENS).status_code == 200


@pytest.mark.long
def test_a_refused_confirmation_shows_the_page_again(alice: User) -> None:
    device_of(alice)
    browser = returning(alice)
    browser.get(CONFIRM)
    page = browser.post(f"{CONFIRM}?next={TOKENS}", sent({"id": "AAAA"}))
    assert NOT_ACCEPTED in text_of(page)
    assert f'value="{TOKENS}"' in page.content.decode()


@pytest.mark.long
def test_a_passkey_opens_the_staff_pages(django_user_model: type[User]) -> None:
    moderator = django_user_model.objects.create_user("mod", password="mod", is_staff=True)
    device, browser = device_of(moderator), Client()
    browser.post(LOG_IN, sent(device.use(asked(browser))))
    assert browser.get("/admin/").status_code == 200
    queries.passkeys_of(moderator).delete()
    assert browser.get("/admin/").status_code == 302


def test_staff_whose_only_factor_works_at_another_address(django_user_model: type[User], settings: Settings) -> None:
    moderator = django_user_model.objects.create_user("mod", password="mod", is_staff=True)
    device_of(moderator)
    Authenticator.objects.filter(type="recovery_codes").delete()
    settings.SITE_URL = "http://cards.example.org"
    browser = returning(moderator)
    assert browser.get("/admin/login/").headers["Location"] == FACTORS
    assert "does not work at this address" in text_of(browser.get(FACTORS))


def test_a_double_click_adds_one(alice: User) -> None:
    browser, device = confirmed_browser(alice), Device(SITE)
    form = sent(device.add(browser.get(ADD).context["js_data"]["creation_options"]), name="Phone")
    second_click = copied(browser)
    browser.post(ADD, form)
    assert second_click.post(ADD, form).status_code in (302, 303)
    third = browser.post(ADD, form)
    assert third.headers["Location"] == FACTORS
    assert queries.passkeys_of(alice).count() == 1


@pytest.mark.long
def test_at_most_ten(alice: User, settings: Settings) -> None:
    settings.RATE_LIMITS = 0
    for _ in range(MOST):
        assert added(confirmed_browser(User.objects.get(pk=alice.pk)), Device(SITE)).status_code == 302
    page = added(confirmed_browser(User.objects.get(pk=alice.pk)), Device(SITE))
    assert (page.status_code, TOO_MANY in text_of(page)) == (200, True)
    assert queries.passkeys_of(alice).count() == MOST


@pytest.mark.parametrize("name", ["", " ", "x" * (LONGEST_NAME + 1), "a\0b"])
def test_refused_names(alice: User, name: str) -> None:
    browser = confirmed_browser(alice)
    added(browser, Device(SITE))
    passkey = queries.passkeys_of(alice).get()
    page = browser.post(f"/accounts/2fa/webauthn/keys/{passkey.pk}/edit/", {"name": name})
    assert page.status_code == 200
    assert page.context["form"].errors["name"]
    passkey.refresh_from_db()
    assert passkey.data["name"] == "Phone"


def test_a_new_name_is_escaped(alice: User) -> None:
    browser = confirmed_browser(alice)
    added(browser, Device(SITE))
    passkey = queries.passkeys_of(alice).get()
    answer = browser.post(f"/accounts/2fa/webauthn/keys/{passkey.pk}/edit/", {"name": "<b>Key</b>"})
    assert answer.headers["Location"] == FACTORS
    assert "&lt;b&gt;Key" in browser.get(FACTORS).content.decode()


def test_removing_the_last_one_removes_the_codes(alice: User) -> None:
    browser = confirmed_browser(alice)
    added(browser, Device(SITE))
    address = f"/accounts/2fa/webauthn/keys/{queries.passkeys_of(alice).get().pk}/remove/"
    assert "your recovery codes will stop working" in text_of(browser.get(address))
    assert browser.post(address).headers["Location"] == FACTORS
    assert not Authenticator.objects.exists()
    assert browser.post(address).status_code in (303, 404)


def test_nobody_changes_the_passkeys_of_others(alice: User, bob: User) -> None:
    device_of(alice)
    number = queries.passkeys_of(alice).get().pk
    browser = confirmed_browser(bob)
    for act in ("edit", "remove"):
        address = f"/accounts/2fa/webauthn/keys/{number}/{act}/"
        assert [browser.get(address).status_code, browser.post(address, {"name": "x"}).status_code] == [404, 404]
    assert queries.passkeys_of(alice).get().data["name"] == "Phone"


@pytest.mark.long
def test_an_app_beside_a_passkey(alice: User) -> None:
    """The app keeps the codes and the sessions, and turning it off leaves the passkey."""
    browser = confirmed_browser(alice)
    device = Device(SITE)
    added(browser, device)
    codes = Authenticator.objects.get(user=alice, type="recovery_codes").data
    secret = browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    browser.post("/accounts/2fa/totp/activate/", {"code": totp(secret)})
    assert Authenticator.objects.get(user=alice, type="recovery_codes").data == codes
    browser.post("/accounts/2fa/totp/deactivate/")
    kinds = set(Authenticator.objects.filter(user=alice).values_list("type", flat=True))
    assert kinds == {"webauthn", "recovery_codes"}


def test_tokens_are_revoked_with_the_first_passkey_if_asked(alice: User) -> None:
    browser = confirmed_browser(alice)
    browser.post(TOKENS, {"name": "bot", "scope": "play"})
    assert queries.tokens_of(alice).exists()
    added(browser, Device(SITE), revoke_tokens="on")
    assert not queries.tokens_of(alice).exists()


def test_guests_have_none(db: None) -> None:
    guest = logged_in(actions.create_guest())
    assert guest.get(ADD).headers["Location"] == "/accounts/signup/"


@pytest.mark.long
def test_after_a_reset_a_passkey_needs_the_new_password(alice: User) -> None:
    device = device_of(alice)
    replace_password(user=User.objects.get(pk=alice.pk), password="four green reverses")
    browser = Client()
    browser.post(LOG_IN, sent(device.use(asked(browser))))
    assert not get_user(browser).is_authenticated
    assert NEEDS_MORE in text_of(browser.get("/accounts/login/"))
    browser.post("/accounts/login/", {"login": "alice", "password": "four green reverses"})
    page = browser.get(ENTER)
    browser.post(ENTER, sent(device.use(page.context["js_data"]["request_options"])))
    assert get_user(browser) == alice
    assert "only together with the password" in text_of(browser.get(FACTORS))


def test_removing_a_passkey_ends_what_it_has_opened(alice: User) -> None:
    device, thief = device_of(alice), Client()
    thief.post(LOG_IN, sent(device.use(asked(thief))))
    owner = confirmed_browser(User.objects.get(pk=alice.pk))
    owner.post(f"/accounts/2fa/webauthn/keys/{queries.passkeys_of(alice).get().pk}/remove/")
    assert get_user(owner) == alice
    assert not get_user(thief).is_authenticated


def test_the_last_way_to_log_in_stays(alice: User) -> None:
    device_of(alice)
    alice.refresh_from_db()
    alice.set_unusable_password()
    alice.save(update_fields=["password"])
    browser = confirmed_browser(alice)
    address = f"/accounts/2fa/webauthn/keys/{queries.passkeys_of(alice).get().pk}/remove/"
    assert LAST_WAY in text_of(browser.get(address))
    browser.post(address)
    assert LAST_WAY in text_of(browser.get(FACTORS))
    assert queries.passkeys_of(alice).exists()


def test_a_new_name_brings_no_removed_passkey_back(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = confirmed_browser(alice)
    added(browser, Device(SITE))
    lock = actions.lock_unchanged

    def remove_and_lock(user: User) -> object:
        Authenticator.objects.filter(user=user).delete()
        return lock(user)

    monkeypatch.setattr(actions, "lock_unchanged", remove_and_lock)
    address = f"/accounts/2fa/webauthn/keys/{queries.passkeys_of(alice).get().pk}/edit/"
    assert browser.post(address, {"name": "Key"}).headers["Location"] == FACTORS
    assert not Authenticator.objects.exists()


@pytest.mark.long
def test_somebody_who_is_deleted_meanwhile(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    device, browser = device_of(alice), Client()
    answer = sent(device.use(asked(browser)))
    checked = passkeys.LogInByPasskeyForm.clean_credential

    def check_and_delete(form: Any) -> Authenticator:
        passkey: Authenticator = checked(form)
        User.objects.filter(pk=alice.pk).delete()
        return passkey

    monkeypatch.setattr(passkeys.LogInByPasskeyForm, "clean_credential", check_and_delete)
    assert browser.post(LOG_IN, answer).headers["Location"] == "/accounts/login/"
    assert NOT_ACCEPTED in text_of(browser.get("/accounts/login/"))


DEEP: Final = "[" * 9000
SIZES: Final = {
    "a number": "5", "true": "true", "infinity": "1e999", "a list": "[]", "a text": '"x"', "no JSON": "{",
    "null": "null", "deep": DEEP, "deep objects": '{"a":' * 3000, "long": json.dumps({"id": "x" * LONGEST_ANSWER}),
    "deep data": json.dumps({"rawId": "AA", "response": {"clientDataJSON": websafe_encode(DEEP.encode())}}),
}  # fmt: skip


@pytest.mark.parametrize("answer", SIZES.values(), ids=SIZES)
def test_what_is_no_answer_is_refused(alice: User, answer: str) -> None:
    visitor = Client()
    asked(visitor)
    assert visitor.post(LOG_IN, {"credential": answer}).headers["Location"] == "/accounts/login/"
    browser = confirmed_browser(alice)
    browser.get(ADD)
    page = browser.post(ADD, {"credential": answer, "name": "Phone"})
    assert (page.status_code, NOT_ACCEPTED in text_of(page)) == (200, True)


KEYS: Final = {"an unknown kind": {1: 2, 3: -999}, "without its numbers": {1: 2, 3: -7}}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_that_can_check_nothing_is_refused(alice: User, key: dict[int, int]) -> None:
    browser, device = confirmed_browser(alice), Device(SITE)
    device.public = CoseKey(key)
    answer = device.add(browser.get(ADD).context["js_data"]["creation_options"])
    assert NOT_ACCEPTED in text_of(browser.post(ADD, sent(answer, name="Phone")))
    assert not Authenticator.objects.exists()


def test_an_answer_has_the_id_of_its_passkey(alice: User) -> None:
    browser, device = confirmed_browser(alice), Device(SITE)
    answer = device.add(browser.get(ADD).context["js_data"]["creation_options"])
    answer["id"] = answer["rawId"] = websafe_encode(b"another")
    assert NOT_ACCEPTED in text_of(browser.post(ADD, sent(answer, name="Phone")))


FUZZ = int(os.environ.get("FUZZ", "20"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=30) | st.just("AAAA"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@hypothesis_settings(max_examples=FUZZ, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.long
def test_no_answer_is_an_error_of_the_site(alice: User, settings: Settings, data: st.DataObject) -> None:
    """Answers with wrong parts are refused with a page, at each form that takes one."""
    settings.RATE_LIMITS = 0
    device = Device(SITE)
    browser = confirmed_browser(User.objects.get(pk=alice.pk))
    create = device.add(browser.get(ADD).context["js_data"]["creation_options"])
    visitor = Client()
    use = device.use(asked(visitor))
    parts = ("id", "rawId", "type", "response", "clientExtensionResults")
    for client, page, answer in ((browser, ADD, create), (visitor, LOG_IN, use)):
        inner = sorted(answer["response"])
        if wrong := data.draw(st.sampled_from(["", *parts])):
            answer[wrong] = data.draw(VALUES)
        else:
            answer["response"][data.draw(st.sampled_from(inner))] = data.draw(VALUES)
        assert client.post(page, sent(answer, name="x")).status_code in (200, 302)
