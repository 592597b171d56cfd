"""People link their accounts with the OpenID provider, unlink them, and confirm changes without a password."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import pytest
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY as RECORDS
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from accounts import actions
from accounts.models import AccountMail, ApiToken, Session, User
from games.models import DataCopy
from games.queries import my_data
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import confirmed, copied, who
from tests.support.codes import confirmed_browser, totp
from tests.support.openid import (
    CONFIRM,
    DORA,
    LINK,
    PAGE,
    SIGN_UP,
    UNLINK,
    Provider,
    at_provider,
    begin,
    go_through,
    linked,
    sent_to,
)
from tests.support.pages import text_of

pytestmark = [pytest.mark.django_db, pytest.mark.long]


def is_linked(user: User) -> bool:
    return bool(SocialAccount.objects.filter(user=user).exists())


def logged_in_at_provider() -> Client:
    """Return the browser of Dora, who has logged in with the provider and confirmed nothing."""
    browser = Client()
    go_through(browser)
    return browser


# Linking


def test_a_person_links_after_showing_the_password(alice: User, provider: Provider) -> None:
    confirmed(alice)
    browser = logged_in(alice)
    assert f'href="{PAGE}"' in browser.get(pages.ACCOUNT).content.decode()
    assert f'action="{LINK}"' not in browser.get(PAGE).content.decode()
    refused = browser.post(LINK)
    assert refused["Location"].startswith("/accounts/reauthenticate/?next=")
    assert provider.calls() == {}
    browser.post(f"/accounts/reauthenticate/?next={PAGE}", {"password": "alice"})
    assert f'action="{LINK}"' in browser.get(PAGE).content.decode()
    answer = go_through(browser, LINK)
    assert answer["Location"] == PAGE
    assert "From now on you can log in with Village Login." in text_of(browser.get(PAGE))
    assert is_linked(alice)
    assert [(letter.subject, letter.to) for letter in pages.new_mails()] == [
        ("Another way to log in was added", [alice.email])
    ]
    there = Client()
    go_through(there)
    assert who(there) == "alice"
    assert pages.log_in(there).status_code == 302


def test_with_a_second_factor_a_code_is_asked_for(alice: User, provider: Provider) -> None:
    TOTP.activate(alice, pages.SECRET)
    browser = logged_in(alice)
    assert browser.post(LINK)["Location"].startswith(pages.CONFIRM_BY_CODE)
    browser.post(pages.CONFIRM_BY_CODE, {"code": totp(pages.SECRET)})
    go_through(browser, LINK)
    assert is_linked(alice)


def test_a_get_links_nothing(alice: User, provider: Provider) -> None:
    browser = confirmed_browser(alice)
    for path in (LINK, UNLINK):
        assert browser.get(path).status_code == 405
    assert not is_linked(alice)


def test_an_identity_belongs_to_one_account(alice: User, dora: User, provider: Provider) -> None:
    answer = go_through(confirmed_browser(alice), LINK)
    assert (answer.status_code, "Another account here is linked" in text_of(answer)) == (409, True)
    assert not is_linked(alice)


def test_an_account_has_one_identity(alice: User, provider: Provider) -> None:
    browser = confirmed_browser(alice)
    first, second = begin(browser, LINK), begin(browser, LINK)
    browser.get(first)
    provider.person = {"sub": "2"}
    for answer in (browser.get(second), browser.post(LINK)):
        assert answer.status_code == 409
        assert "is linked with an account of Village Login already" in text_of(answer)
    assert SocialAccount.objects.get(user=alice).uid == DORA["sub"]


def test_a_callback_of_somebody_else_links_nothing(alice: User, bob: User, provider: Provider) -> None:
    """A thief sends the address of a callback to somebody else, or another person logs in meanwhile."""
    thief = confirmed_browser(bob)
    there = begin(thief, LINK)
    victim = confirmed_browser(alice)
    assert victim.get(there).status_code == 400
    there = begin(thief, LINK)
    pages.log_in(thief)
    assert thief.get(there).status_code == 400
    assert not SocialAccount.objects.exists()


def test_linking_takes_at_most_the_minutes_of_a_confirmation(alice: User, provider: Provider) -> None:
    browser = confirmed_browser(alice)
    there = begin(browser, LINK)
    session = browser.session
    session[RECORDS] = [{**record, "at": record["at"] - 301} for record in session[RECORDS]]
    session.save()
    assert browser.get(there)["Location"] == PAGE
    assert "so nothing was linked" in text_of(browser.get(PAGE))
    assert not is_linked(alice)


def test_a_new_password_meanwhile_stops_the_linking(alice: User, provider: Provider) -> None:
    browser = confirmed_browser(alice)
    there = begin(browser, LINK)
    alice.set_password(pages.PASSWORD)
    alice.save()
    assert browser.get(there).status_code == 400
    assert not is_linked(alice)


def test_guests_sign_up_first(client: Client, provider: Provider) -> None:
    client.post("/play-now/")
    for path in (PAGE, LINK, UNLINK, CONFIRM):
        assert client.post(path)["Location"] == pages.SIGN_UP
    assert not SocialAccount.objects.exists()


def test_somebody_who_can_show_nothing_links_nothing(alice: User, provider: Provider) -> None:
    alice.set_unusable_password()
    alice.save()
    browser = logged_in(alice)
    answer = browser.post(LINK)
    assert (answer.status_code, "Set a password first" in text_of(answer)) == (409, True)
    assert f'action="{LINK}"' not in browser.get(PAGE).content.decode()


# Unlinking


def test_a_person_unlinks_after_showing_the_password(alice: User, provider: Provider) -> None:
    confirmed(alice)
    linked(alice, provider)
    by_provider, browser = Client(), logged_in(alice)
    go_through(by_provider)
    assert browser.post(UNLINK)["Location"].startswith(pages.CONFIRM)
    assert is_linked(alice)
    browser.post(pages.CONFIRM, {"password": "alice"})
    assert "Unlink Village Login" in text_of(browser.get(PAGE))
    assert browser.post(UNLINK)["Location"] == PAGE
    assert "no longer linked with Village Login" in text_of(browser.get(PAGE))
    assert not is_linked(alice)
    assert (who(browser), who(by_provider)) == ("alice", "")
    assert [letter.subject for letter in pages.new_mails()] == ["A way to log in was removed"]
    assert go_through(Client())["Location"] == SIGN_UP
    again = browser.post(UNLINK)
    assert again["Location"] == PAGE
    assert "was not linked any more" in text_of(browser.get(PAGE))
    assert pages.new_mails() == []


def test_a_log_in_that_waits_for_a_code_ends_with_the_unlinking(alice: User, provider: Provider) -> None:
    linked(alice, provider)
    TOTP.activate(alice, pages.SECRET)
    waiting = Client()
    go_through(waiting)
    browser = confirmed_browser(alice)
    browser.post(UNLINK)
    assert not is_linked(alice)
    waiting.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)})
    assert who(waiting) == ""


def test_the_last_way_to_log_in_cannot_be_removed(dora: User, provider: Provider) -> None:
    browser = logged_in_at_provider()
    go_through(browser, CONFIRM)
    assert "It is your only way to log in" in text_of(browser.get(PAGE))
    assert f'action="{UNLINK}"' not in browser.get(PAGE).content.decode()
    answer = browser.post(UNLINK)
    assert (answer.status_code, "Set one first" in text_of(answer)) == (409, True)
    assert is_linked(dora)
    assert browser.post(pages.SET, pages.NEW_PASSWORD).status_code == 302
    assert browser.post(UNLINK)["Location"] == PAGE  # the confirmation from before still counts
    assert not is_linked(dora)


# People without a password


CHANGES: Final[dict[str, tuple[str, dict[str, str], Callable[[], object]]]] = {
    "add an address": (
        pages.EMAIL, {"action_add": "", "email": "thief@example.org"}, EmailAddress.objects.count,
    ),
    "make a token": (pages.TOKENS, {"name": "mine"}, ApiToken.objects.count),
    "set a password": (pages.SET, pages.NEW_PASSWORD, lambda: User.objects.get().has_usable_password()),
    "log out elsewhere": (pages.LOG_INS, {"end": "others"}, Session.objects.exclude(user=None).count),
    "copy the data": ("/accounts/me/data/", {}, DataCopy.objects.count),
    "delete the account": ("/accounts/me/delete/", {}, lambda: User.objects.get().deletes_at is not None),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_asks_for_the_identity_again(dora: User, provider: Provider, change: str) -> None:
    path, form, state = CHANGES[change]
    browser, _other = logged_in_at_provider(), logged_in_at_provider()
    before = state()
    refused = browser.post(path, form)
    assert (refused.status_code, refused["Location"].startswith(f"{CONFIRM}?next=")) == (303, True)
    assert state() == before
    page = browser.get(refused["Location"])
    assert "Confirm with Village Login" in text_of(page)
    assert f'name="next" value="{path}"' in page.content.decode()
    key = browser.session.session_key
    assert go_through(browser, CONFIRM, next=path)["Location"] == path
    assert browser.session.session_key != key
    assert browser.post(path, form).status_code in (200, 302, 303)
    assert state() != before


def test_the_page_that_asks_for_the_password_leads_to_the_provider(dora: User, provider: Provider) -> None:
    browser = logged_in_at_provider()
    for path in (pages.CONFIRM, pages.CONFIRM_BY_CODE):
        assert browser.get(f"{path}?next=/accounts/email/")["Location"] == f"{CONFIRM}?next=%2Faccounts%2Femail%2F"
    assert "Confirm that it’s you" in text_of(browser.get(pages.EMAIL))
    assert 'name="action_add"' not in browser.get(pages.EMAIL).content.decode()
    go_through(browser, CONFIRM)
    assert 'name="action_add"' in browser.get(pages.EMAIL).content.decode()


def test_the_provider_is_asked_to_ask_again(dora: User, provider: Provider) -> None:
    browser = logged_in_at_provider()
    for at, status in ((time.time() - 400, 403), (time.time() - 20, 302)):
        provider.claims = {"auth_time": int(at)}
        assert go_through(browser, CONFIRM).status_code == status
    asked = provider.authorizations[-1]
    assert (asked["prompt"], asked["max_age"]) == ("login", "0")


def test_a_log_in_without_its_time_confirms_nothing(dora: User, provider: Provider) -> None:
    browser = logged_in_at_provider()
    there = sent_to(browser.post(CONFIRM))
    answer = browser.get(at_provider(there.replace("&prompt=login", "").replace("&max_age=0", "")))
    assert not {"prompt", "max_age"} & set(provider.authorizations[-1])
    assert answer.status_code == 403
    assert "Village Login did not say when you logged in there" in text_of(answer)
    assert browser.get(pages.TOKENS).status_code == 303


def test_an_invalid_time_confirms_nothing(dora: User, provider: Provider) -> None:
    browser = logged_in_at_provider()
    times: tuple[object, ...] = (None, "", "now", "1", [], {}, 0.5, True, -1, -(10**400))
    for at in times:
        provider.claims = {"auth_time": at}
        assert go_through(browser, CONFIRM).status_code == 403, str(at)[:9]
        assert browser.get(pages.TOKENS).status_code == 303


def test_a_confirmation_lasts_five_minutes(dora: User, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = logged_in_at_provider()
    go_through(browser, CONFIRM)
    assert browser.get(pages.TOKENS).status_code == 200
    now = time.time()
    monkeypatch.setattr("accounts.log_ins.time.time", lambda: now + 301)
    assert browser.get(pages.TOKENS).status_code == 303


def test_the_identity_of_somebody_else_confirms_nothing(dora: User, alice: User, provider: Provider) -> None:
    linked(alice, provider, "2")
    browser = logged_in_at_provider()
    for subject in ("2", "unknown"):
        provider.person = {"sub": subject}
        answer = go_through(browser, CONFIRM)
        assert (answer.status_code, "This is not the account" in text_of(answer)) == (403, True)
    assert browser.get(pages.TOKENS).status_code == 303


def test_a_copy_of_the_session_cannot_use_the_confirmation(dora: User, provider: Provider) -> None:
    browser = logged_in_at_provider()
    thief = copied(browser)
    go_through(browser, CONFIRM)
    assert thief.get(pages.TOKENS).status_code == 303


@pytest.mark.parametrize("with_factor", [False, True])
def test_who_has_a_password_or_a_factor_confirms_by_that_only(
    alice: User, dora: User, provider: Provider, *, with_factor: bool
) -> None:
    person = dora if with_factor else alice
    if with_factor:
        TOTP.activate(dora, pages.SECRET)
    else:
        provider.person = {"sub": "2"}
        linked(alice, provider, "2")
    browser = logged_in(person)
    for method in (browser.get, browser.post):
        assert method(CONFIRM)["Location"] == pages.CONFIRM
    way = pages.CONFIRM_BY_CODE if with_factor else pages.CONFIRM
    assert browser.get(pages.TOKENS)["Location"].startswith(way)


def test_a_second_factor_that_is_set_up_meanwhile_is_not_skipped(dora: User, provider: Provider) -> None:
    browser = logged_in_at_provider()
    there = begin(browser, CONFIRM)
    TOTP.activate(dora, pages.SECRET)
    assert browser.get(there).status_code == 403


def test_an_app_is_set_up_after_a_confirmation(dora: User, provider: Provider) -> None:
    browser = logged_in_at_provider()
    assert browser.get(pages.SET_UP)["Location"].startswith(CONFIRM)
    go_through(browser, CONFIRM)
    assert pages.set_up_app(browser)[1].status_code == 302
    assert Authenticator.objects.filter(user=dora).exists()
    assert go_through(Client())["Location"] == pages.ENTER_CODE


def test_where_the_provider_is_another_now_a_mail_sets_a_password(
    dora: User, provider: Provider, settings: Any
) -> None:
    browser = logged_in_at_provider()
    for issuer in ("https://another.example.org", ""):
        settings.OIDC_ISSUER = issuer
        for path in (pages.TOKENS, pages.SET):
            answer = browser.post(path, {"name": "mine", **pages.NEW_PASSWORD})
            assert answer["Location"].startswith(pages.RESET)
        assert "Your account has no password to confirm this with" in text_of(browser.get(pages.RESET))
    assert not ApiToken.objects.exists()


def test_the_first_password_logs_out_everywhere_else_and_tells_the_addresses(dora: User, provider: Provider) -> None:
    browser, other = logged_in_at_provider(), logged_in_at_provider()
    assert browser.get(pages.CHANGE)["Location"] == pages.SET
    go_through(browser, CONFIRM)
    assert "Set a password" in text_of(browser.get(pages.SET))
    browser.post(pages.SET, pages.NEW_PASSWORD)
    assert (who(browser), who(other)) == ("dora", "")
    assert [letter.subject for letter in pages.new_mails()] == ["A password was set"]
    assert is_linked(dora)
    assert pages.log_in(Client(), "dora", pages.PASSWORD).status_code == 302


def test_a_password_by_mail_keeps_the_link_of_an_account_without_one(dora: User, provider: Provider) -> None:
    reset(dora.email)
    dora.refresh_from_db()
    assert dora.check_password(pages.PASSWORD)
    assert is_linked(dora)


def test_a_password_by_mail_unlinks_what_who_knew_the_old_one_has_linked(alice: User, provider: Provider) -> None:
    confirmed(alice)
    linked(alice, provider)
    reset(alice.email)
    assert not is_linked(alice)
    assert AccountMail.objects.filter(kind="socialaccount/email/account_disconnected", user=alice).exists()


def reset(address: str) -> None:
    """Set a new password by the link in a mail."""
    pages.ask_reset(address)
    (letter,) = pages.new_mails()
    (link,) = pages.links_to("password/reset/key", letter)
    assert pages.reset_password(Client(), link) == 302


@pytest.mark.parametrize("ticked", [False, True])
def test_a_change_of_password_asks_about_the_link(alice: User, provider: Provider, *, ticked: bool) -> None:
    linked(alice, provider)
    browser = logged_in(alice)
    assert "Unlink my account of Village Login" in text_of(browser.get(pages.CHANGE))
    assert pages.change_password(browser, **({"unlink": "on"} if ticked else {})) == 302
    assert is_linked(alice) is not ticked


def test_a_linked_guest_does_not_exist(provider: Provider) -> None:
    guest = actions.create_guest()
    linked(guest, provider)
    browser = logged_in(guest)
    assert browser.post(pages.LOG_INS, {"end": "others"}).status_code == 303


def test_the_copy_of_the_data_has_the_identity(dora: User, provider: Provider) -> None:
    (row,) = my_data.data_of(dora)["linked_identities"]
    assert (row["provider"], row["uid"], row["extra_data"]) == (provider.url, DORA["sub"], {})
