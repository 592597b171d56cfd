"""Passkeys: added, used as a second factor, used alone to log in, and removed."""

from __future__ import annotations

import json
import os
from typing import Any, Final

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from fido2.cose import CoseKey
from fido2.utils import websafe_encode
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from accounts import actions, passkeys, queries
from accounts.models import User
from accounts.passkeys import LAST_WAY, LONGEST_ANSWER, LONGEST_NAME, MOST, NEEDS_MORE, NOT_ACCEPTED
from accounts.password_forms import replace_password
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import copied, is_in, who
from tests.support.codes import confirmed_browser
from tests.support.pages import text_of
from tests.support.passkeys import FLAG, Device, store_passkey

SITE: Final = "https://cards.example.org"
ADD, LOG_IN = "/accounts/2fa/webauthn/add/", "/accounts/2fa/webauthn/login/"
CONFIRM, KEYS = "/accounts/2fa/webauthn/reauthenticate/", "/accounts/2fa/webauthn/keys/"
FACTORS, ENTER, TOKENS = pages.FACTORS, pages.ENTER_CODE, pages.TOKENS
JSON: Final = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def site(settings: Settings) -> None:
    settings.SITE_URL = SITE


def sent(answer: dict[str, Any], **more: object) -> dict[str, object]:
    return {"credential": json.dumps(answer), **more}


def to_add(browser: Client) -> dict[str, Any]:
    """Return what the page for a new passkey asks a device to sign."""
    options: dict[str, Any] = browser.get(ADD).context["js_data"]["creation_options"]
    return options


def to_use(page: Any) -> dict[str, Any]:
    """Return what a page that takes a passkey as second factor asks a device to sign."""
    options: dict[str, Any] = page.context["js_data"]["request_options"]
    return options


def added(browser: Client, device: Device, **more: object) -> Any:
    """Add the passkey of this device by the page. Return the response."""
    return browser.post(ADD, sent(device.add(to_add(browser)), name="Phone") | more)


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


def log_in(browser: Client, device: Device, **more: object) -> Any:
    """Log in with the passkey of this device alone."""
    return browser.post(LOG_IN, sent(device.use(asked(browser)), **more))


def with_passkey(user: User) -> tuple[Client, str]:
    """Return a browser in which this user has just added a passkey, and the path of its pages."""
    browser = confirmed_browser(user)
    added(browser, Device(SITE))
    return browser, f"{KEYS}{queries.passkeys_of(user).get().pk}/"


def kinds_of(user: User) -> set[str]:
    return set(Authenticator.objects.filter(user=user).values_list("type", flat=True))


POSSIBLE: Final = (SITE, "https://cards.example.org:8443", "http://localhost:8000", "http://cards.localhost")
IMPOSSIBLE: Final = (
    *("http://cards.example.org", "http://127.0.0.1:8000"),
    *("https://192.0.2.1", "https://[2001:db8::1]"),
)


def test_where_browsers_allow_passkeys(settings: Settings) -> None:
    for settings.SITE_URL in POSSIBLE + IMPOSSIBLE:
        assert passkeys.are_possible() is (settings.SITE_URL in POSSIBLE), settings.SITE_URL


def test_where_none_are_possible_the_pages_say_so(alice: User, settings: Settings) -> None:
    settings.SITE_URL = "http://127.0.0.1:8000"
    assert "passkey" not in Client().get(pages.LOG_IN).content.decode().lower()
    browser = confirmed_browser(alice)
    assert "Browsers allow passkeys only with https" in text_of(browser.get(ADD))
    assert "Add a passkey" not in text_of(browser.get(FACTORS))


def test_the_first_passkey_makes_recovery_codes_and_ends_other_sessions_and_another_one_keeps_both(alice: User) -> None:
    other, browser = logged_in(alice), confirmed_browser(alice)
    answer = added(browser, Device(SITE))
    assert (answer.status_code, answer.headers["Location"]) == (302, pages.CODES)
    assert (who(browser), is_in(other)) == ("alice", False)
    assert kinds_of(alice) == {"webauthn", "recovery_codes"}
    page = text_of(browser.get(FACTORS))
    assert "Phone Added" in page
    assert "Your password alone is not enough to log in." in page
    browser.get(pages.CODES)
    codes = Authenticator.objects.get(user=alice, type="recovery_codes").data
    answer = added(browser, Device(SITE), name="Key")
    assert answer.headers["Location"] == FACTORS
    assert Authenticator.objects.get(user=alice, type="recovery_codes").data == codes
    assert [one.data["name"] for one in queries.passkeys_of(alice)] == ["Phone", "Key"]


def test_a_passkey_needs_a_confirmation_and_an_account(alice: User) -> None:
    browser = logged_in(alice)
    for answer in (browser.get(ADD), browser.post(ADD, sent({}))):
        assert answer.headers["Location"] == f"/accounts/reauthenticate/?next={ADD.replace('/', '%2F')}"
    assert logged_in(actions.create_guest()).get(ADD).headers["Location"] == pages.SIGN_UP
    assert not Authenticator.objects.exists()


def test_only_what_is_needed_is_stored(alice: User) -> None:
    browser, device = confirmed_browser(alice), Device(SITE)
    answer = device.add(to_add(browser))
    junk = {"more": "x" * 1000, "nul": "\0", "authenticatorAttachment": "platform"}
    assert browser.post(ADD, sent(answer | junk, name="Phone")).status_code == 302
    stored = queries.passkeys_of(alice).get().data
    assert stored["credential"] == answer
    assert set(stored) == {"name", "credential"}


def test_a_passkey_logs_in_alone(alice: User) -> None:
    device, browser = device_of(alice), Client()
    answer = log_in(browser, device, next="/about/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/about/")
    assert who(browser) == "alice"
    assert queries.passkeys_of(alice).get().last_used_at is not None


def test_an_answer_logs_in_once_and_in_no_other_browser(alice: User) -> None:
    device, browser, thief = device_of(alice), Client(), Client()
    answer = sent(device.use(asked(browser)))
    asked(thief)
    thief.post(LOG_IN, answer)
    assert not is_in(thief)
    browser.post(LOG_IN, answer)
    assert is_in(browser)
    browser.post(pages.LOG_OUT)
    browser.post(LOG_IN, answer)
    assert not is_in(browser)
    assert Client().post(LOG_IN, answer).headers["Location"] == pages.LOG_IN


@pytest.mark.long
def test_a_passkey_logs_in_nobody_else(alice: User, bob: User) -> None:
    device, browser = device_of(alice), Client()
    answer = device.use(asked(browser))
    answer["response"]["userHandle"] = device_of(bob).user_handle
    browser.post(LOG_IN, sent(answer))
    assert not is_in(browser)


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
    log_in(browser, wrong)
    assert not is_in(browser)
    assert NOT_ACCEPTED in text_of(browser.get(pages.LOG_IN))


def test_closed_and_suspended_people(alice: User) -> None:
    device, browser = device_of(alice), Client()
    User.objects.filter(pk=alice.pk).update(is_active=False)
    answer = log_in(browser, device)
    assert answer.headers["Location"] == "/accounts/inactive/"
    assert not is_in(browser)


def test_only_a_passkey_of_their_own_is_the_second_factor_of_a_log_in(alice: User, bob: User) -> None:
    device, stranger, browser = device_of(alice), device_of(bob), pages.waiting_for_code()
    page = browser.get(ENTER)
    assert "six digits" not in text_of(page)
    refused = browser.post(ENTER, sent(stranger.use(to_use(page))))
    assert NOT_ACCEPTED in text_of(refused)
    assert not is_in(browser)
    browser.post(ENTER, sent(device.use(to_use(browser.get(ENTER)))))
    assert who(browser) == "alice"


@pytest.mark.long
def test_with_a_passkey_the_password_confirms_nothing(alice: User) -> None:
    device, browser = device_of(alice), returning(alice)
    asked_again = browser.get(TOKENS)
    assert asked_again.headers["Location"] == f"{CONFIRM}?next=%2Faccounts%2Fme%2Ftokens%2F"
    answer = browser.post(pages.CONFIRM, {"password": "alice"})
    assert answer.headers["Location"].startswith(CONFIRM)
    assert "Use a code" in text_of(browser.get(CONFIRM))
    refused = browser.post(f"{CONFIRM}?next={TOKENS}", sent({"id": "AAAA"}))
    assert NOT_ACCEPTED in text_of(refused)
    assert f'value="{TOKENS}"' in refused.content.decode()
    confirmed = browser.post(f"{CONFIRM}?next={TOKENS}", sent(device.use(to_use(browser.get(CONFIRM)))))
    assert confirmed.headers["Location"] == TOKENS
    assert browser.get(TOKENS).status_code == 200


@pytest.mark.long
def test_a_passkey_opens_the_staff_pages(django_user_model: type[User]) -> None:
    moderator = django_user_model.objects.create_user("mod", password="mod", is_staff=True)
    device, browser = device_of(moderator), Client()
    log_in(browser, device)
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
    form = sent(device.add(to_add(browser)), name="Phone")
    second_click = copied(browser)
    browser.post(ADD, form)
    assert second_click.post(ADD, form).status_code in (302, 303)
    third = browser.post(ADD, form)
    assert third.headers["Location"] == FACTORS
    assert queries.passkeys_of(alice).count() == 1


def test_at_most_ten(alice: User) -> None:
    for _ in range(MOST - 1):
        store_passkey(alice, Device(SITE))
    browser = confirmed_browser(alice)
    assert added(browser, Device(SITE)).status_code == 302
    page = added(browser, Device(SITE))
    assert (page.status_code, "You have 10 passkeys already. Remove one first." in text_of(page)) == (200, True)
    assert queries.passkeys_of(alice).count() == MOST


def test_a_new_name_is_checked_and_escaped(alice: User) -> None:
    browser, page = with_passkey(alice)
    for name in ("", " ", "x" * (LONGEST_NAME + 1), "a\0b"):
        refused = browser.post(f"{page}edit/", {"name": name})
        assert refused.status_code == 200, name
        assert refused.context["form"].errors["name"]
        assert queries.passkeys_of(alice).get().data["name"] == "Phone"
    answer = browser.post(f"{page}edit/", {"name": "<b>Key</b>"})
    assert answer.headers["Location"] == FACTORS
    assert "&lt;b&gt;Key" in browser.get(FACTORS).content.decode()


def test_removing_the_last_one_removes_the_codes(alice: User) -> None:
    browser, page = with_passkey(alice)
    address = f"{page}remove/"
    assert "your recovery codes will stop working" in text_of(browser.get(address))
    assert browser.post(address).headers["Location"] == FACTORS
    assert not Authenticator.objects.exists()
    assert browser.post(address).status_code in (303, 404)


def test_nobody_changes_the_passkeys_of_others(alice: User, bob: User) -> None:
    _, page = with_passkey(alice)
    browser = confirmed_browser(bob)
    for address in (f"{page}edit/", f"{page}remove/"):
        assert [browser.get(address).status_code, browser.post(address, {"name": "x"}).status_code] == [404, 404]
    assert queries.passkeys_of(alice).get().data["name"] == "Phone"


@pytest.mark.long
def test_an_app_beside_a_passkey(alice: User) -> None:
    """The app keeps the codes and the sessions, and turning it off leaves the passkey."""
    browser = confirmed_browser(alice)
    device = Device(SITE)
    added(browser, device)
    codes = Authenticator.objects.get(user=alice, type="recovery_codes").data
    pages.set_up_app(browser)
    assert Authenticator.objects.get(user=alice, type="recovery_codes").data == codes
    browser.post(pages.TURN_OFF)
    assert kinds_of(alice) == {"webauthn", "recovery_codes"}


def test_tokens_are_revoked_with_the_first_passkey_if_asked(alice: User) -> None:
    browser = confirmed_browser(alice)
    browser.post(TOKENS, {"name": "bot", "scope": "play"})
    assert queries.tokens_of(alice).exists()
    added(browser, Device(SITE), revoke_tokens="on")
    assert not queries.tokens_of(alice).exists()


@pytest.mark.long
def test_after_a_reset_a_passkey_needs_the_new_password(alice: User) -> None:
    device = device_of(alice)
    replace_password(user=User.objects.get(pk=alice.pk), password=pages.PASSWORD)
    browser = Client()
    log_in(browser, device)
    assert not is_in(browser)
    assert NEEDS_MORE in text_of(browser.get(pages.LOG_IN))
    pages.log_in(browser, "alice", pages.PASSWORD)
    page = browser.get(ENTER)
    browser.post(ENTER, sent(device.use(to_use(page))))
    assert who(browser) == "alice"
    assert "only together with the password" in text_of(browser.get(FACTORS))


def test_removing_a_passkey_ends_what_it_has_opened(alice: User) -> None:
    device, thief = device_of(alice), Client()
    log_in(thief, device)
    owner = confirmed_browser(User.objects.get(pk=alice.pk))
    owner.post(f"{KEYS}{queries.passkeys_of(alice).get().pk}/remove/")
    assert who(owner) == "alice"
    assert not is_in(thief)


def test_the_last_way_to_log_in_stays(alice: User) -> None:
    device_of(alice)
    alice.refresh_from_db()
    alice.set_unusable_password()
    alice.save(update_fields=["password"])
    browser = confirmed_browser(alice)
    address = f"{KEYS}{queries.passkeys_of(alice).get().pk}/remove/"
    assert LAST_WAY in text_of(browser.get(address))
    browser.post(address)
    assert LAST_WAY in text_of(browser.get(FACTORS))
    assert queries.passkeys_of(alice).exists()


def test_a_new_name_brings_no_removed_passkey_back(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, page = with_passkey(alice)
    lock = actions.lock_unchanged

    def remove_and_lock(user: User) -> object:
        Authenticator.objects.filter(user=user).delete()
        return lock(user)

    monkeypatch.setattr(actions, "lock_unchanged", remove_and_lock)
    assert browser.post(f"{page}edit/", {"name": "Key"}).headers["Location"] == FACTORS
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
    assert browser.post(LOG_IN, answer).headers["Location"] == pages.LOG_IN
    assert NOT_ACCEPTED in text_of(browser.get(pages.LOG_IN))


DEEP: Final = "[" * 9000
SIZES: Final = {
    "a number": "5", "true": "true", "infinity": "1e999", "a list": "[]", "a text": '"x"', "no JSON": "{",
    "null": "null", "deep": DEEP, "deep objects": '{"a":' * 3000, "long": json.dumps({"id": "x" * LONGEST_ANSWER}),
    "deep data": json.dumps({"rawId": "AA", "response": {"clientDataJSON": websafe_encode(DEEP.encode())}}),
}  # fmt: skip


def test_what_is_no_answer_is_refused(alice: User) -> None:
    visitor, browser = Client(), confirmed_browser(alice)
    for what, answer in SIZES.items():
        asked(visitor)
        assert visitor.post(LOG_IN, {"credential": answer}).headers["Location"] == pages.LOG_IN, what
        browser.get(ADD)
        page = browser.post(ADD, {"credential": answer, "name": "Phone"})
        assert (page.status_code, NOT_ACCEPTED in text_of(page)) == (200, True), what


def test_a_key_that_can_check_nothing_or_has_another_id_is_refused(alice: User) -> None:
    browser = confirmed_browser(alice)
    for key in ({1: 2, 3: -999}, {1: 2, 3: -7}):  # of an unknown kind, and without its numbers
        assert NOT_ACCEPTED in text_of(added(browser, Device(SITE, public=CoseKey(key)))), key
    answer = Device(SITE).add(to_add(browser))
    answer["id"] = answer["rawId"] = websafe_encode(b"another")
    assert NOT_ACCEPTED in text_of(browser.post(ADD, sent(answer, name="Phone")))
    assert not Authenticator.objects.exists()


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
    create = device.add(to_add(browser))
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
