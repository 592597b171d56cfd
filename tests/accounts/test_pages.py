"""Signing up, logging in and the account page, as a browser sees them."""

import re
from datetime import timedelta
from zoneinfo import available_timezones

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import timezone

from accounts import actions
from accounts.models import ApiToken, User
from mail.addresses import spellings
from tests.conftest import api_token, logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import who
from tests.support.codes import confirmed_browser


def test_time_zones_are_grouped_by_region_under_current_names(alice: User) -> None:
    html = logged_in(alice).get(pages.ACCOUNT).content.decode().partition('id="id_confirm"')[0]
    assert html.index('<option value="UTC" selected>') < html.index('<optgroup label="Africa">')
    europe = html[html.index('<optgroup label="Europe">') : html.index('<optgroup label="Indian">')]
    assert '<option value="Europe/Amsterdam">Amsterdam</option>' in europe
    assert '<option value="America/Argentina/San_Juan">Argentina: San Juan</option>' in html
    for old in ("Europe/Kiev", "Asia/Calcutta", "US/Pacific", "Etc/GMT+5", "EST", "Pacific-New"):
        assert f'<option value="{old}"' not in html
    assert re.search(r'<option value="Asia/Kolkata" data-also="[^"]*Asia/Calcutta', html)
    shown = re.findall(r'<option value="([^"]+)"', html)
    assert len(shown) == len(set(shown)) > 400
    assert set(shown) <= available_timezones()


def test_a_stored_outdated_zone_name_is_still_selected_and_kept(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Asia/Calcutta")
    browser = logged_in(alice)
    assert '<option value="Asia/Calcutta" selected>' in browser.get(pages.ACCOUNT).content.decode()
    answer = browser.post(pages.ACCOUNT, {"display_name": "Ally", "time_zone": "Asia/Calcutta"})
    assert answer.status_code == 302
    alice.refresh_from_db()
    assert (alice.display_name, alice.time_zone) == ("Ally", "Asia/Calcutta")
    assert browser.post(pages.ACCOUNT, {"time_zone": "Europe/Kiev"}).status_code == 422


def zone_shown(browser: Client) -> list[tuple[str, str]]:
    """How the sign-up page lets the browser's script choose the zone, and the zone chosen."""
    html = browser.get(pages.SIGN_UP).content.decode()
    select = html[html.index('<select name="time_zone"') : html.index("</select>")]
    return list(re.findall(r'data-zone="(\w+)"|<option value="([^"]+)"[^>]* selected', select))


@pytest.mark.long
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "Asia/Calcutta", "UTC"])
def test_a_guest_who_signs_up_keeps_the_time_zone_chosen_before(db: None, zone: str) -> None:
    guest = actions.create_guest()
    actions.choose_time_zone(user=guest, zone=zone, now=timezone.now())
    browser = logged_in(guest)
    # A guest has UTC without having chosen it if the browser did not tell its zone.
    assert zone_shown(browser) == [("choose" if zone == "UTC" else "offer", ""), ("", zone)]
    assert pages.sign_up(browser, time_zone=zone).status_code == 302
    guest.refresh_from_db()
    assert (guest.is_guest, guest.time_zone) == (False, zone)


def test_the_browser_zone_is_preselected_for_new_visitors(client: Client, db: None) -> None:
    assert zone_shown(client) == [("choose", ""), ("", "UTC")]
    refused = pages.sign_up(client, password2="another", time_zone="UTC")
    assert refused.status_code == 200
    assert 'data-zone="offer"' in refused.content.decode()


def test_the_name_fields_explain_the_username(client: Client, as_alice: Client) -> None:
    field = re.search(r'id="id_username_helptext">(.*?)</div>', client.get(pages.SIGN_UP).content.decode())
    assert field is not None
    assert field[1] == "Others see this name. You can add a display name later."
    account = as_alice.get(pages.ACCOUNT).content.decode()
    assert "Your public page is /people/alice/." in account


def test_a_refused_form_links_to_each_error(alice: User) -> None:
    html = (
        logged_in(alice).post(pages.ACCOUNT, {"display_name": "x" * 99, "time_zone": "Mars/Olympus"}).content.decode()
    )
    summary = html[html.index('id="errors"') : html.index("</div>", html.index('id="errors"'))]
    assert "autofocus" in html
    for name in ("display_name", "time_zone"):
        assert f'<a href="#id_{name}">' in summary
        field = re.search(rf'<(?:input|select)[^>]*id="id_{name}"[^>]*>', html)
        assert field is not None
        assert f"id_{name}_error" in field[0]
        assert f'id="id_{name}_error"' in html


@pytest.mark.parametrize("url", [pages.SIGN_UP, pages.LOG_IN])
def test_a_logged_in_user_is_told_so(url: str, alice: User) -> None:
    html = logged_in(alice).get(url).content.decode()
    assert "You are logged in as alice." in html
    assert 'type="password"' not in html


def test_signing_up_without_an_email_address_logs_in(client: Client, db: None) -> None:
    answer = pages.sign_up(client, time_zone="Asia/Kolkata")
    assert (answer.status_code, answer.headers["Location"], who(client)) == (302, "/", "dora")
    assert User.objects.get().time_zone == "Asia/Kolkata"


@pytest.mark.parametrize("name", ["", "DORA"])
def test_a_guest_who_signs_up_stays_the_same_person_also_by_their_own_name(db: None, name: str) -> None:
    guest = actions.create_guest()
    if name:
        actions.update_profile(user=guest, display_name=name, time_zone="UTC", now=timezone.now())
    browser = logged_in(guest)
    assert browser.get(pages.SIGN_UP).status_code == 200
    assert pages.sign_up(browser).status_code == 302
    person = User.objects.get()
    assert (person.pk, person.username, person.name, person.is_guest) == (guest.pk, "dora", name or "dora", False)
    assert person.check_password(pages.PASSWORD)
    assert browser.get(pages.ACCOUNT).status_code == 200


def test_a_guests_refused_sign_up_changes_nothing(alice: User) -> None:
    guest = actions.create_guest()
    assert pages.sign_up(logged_in(guest), "Alice").status_code == 200
    guest.refresh_from_db()
    assert guest.is_guest
    assert not guest.has_usable_password()


def test_signing_up_with_a_taken_or_forbidden_name_is_refused(client: Client, bob: User) -> None:
    actions.update_profile(user=bob, display_name="Robert", time_zone="UTC", now=timezone.now())
    for name in ("robert", "ROBERT"):
        shown = pages.sign_up(client, name).content.decode()
        assert shown.count("Somebody else goes by this name.") == 2, name  # above the form, and at the field
    for name in ("guest-1", "admin", "me@home", "x"):
        assert pages.sign_up(client, name).status_code == 200, name
    assert User.objects.get() == bob


@pytest.mark.parametrize("is_guest", [True, False])
def test_only_a_guest_who_logs_in_to_an_account_keeps_the_tables_opened_by_link(
    alice: User, bob: User, is_guest: bool
) -> None:
    browser = logged_in(actions.create_guest() if is_guest else bob)
    session = browser.session
    session["links"] = ["abc", "def"]
    session.save()
    pages.log_in(browser)
    assert who(browser) == "alice"
    assert browser.session.get("links") == (["abc", "def"] if is_guest else None)


def test_signing_up_while_logged_in_creates_another_account(alice: User, as_alice: Client) -> None:
    pages.sign_up(as_alice)
    assert set(User.objects.values_list("username", flat=True)) == {"alice", "dora"}


def test_the_first_log_in_field_has_a_label(client: Client) -> None:
    page = client.get(pages.LOG_IN).content.decode()
    assert '<label for="id_login">Username or email</label>' in page
    assert 'autocomplete="username"' in page


def test_log_in_works_by_username_and_by_email(alice: User) -> None:
    for login in ("alice", "Alice", "alice@example.org"):
        browser = Client()
        assert pages.log_in(browser, login, "alice").status_code == 302
        assert who(browser) == "alice"


def test_logging_out_takes_a_click(as_alice: Client) -> None:
    assert as_alice.get(pages.LOG_OUT).status_code == 200
    assert who(as_alice) == "alice"
    assert as_alice.post(pages.LOG_OUT).status_code == 302
    assert who(as_alice) == ""


NO_MAIL_GETS_THERE = (
    "Use an address with only unaccented letters, digits and signs before the @. We can’t send to others."
)


def test_an_unreachable_mail_address_is_refused(alice: User) -> None:
    browser, malformed = confirmed_browser(alice), "Enter a valid email address."
    for address, sentence in (
        ("älice@example.org", NO_MAIL_GETS_THERE),
        ("ali\u017fe@example.org", NO_MAIL_GETS_THERE),  # a long s: Django's own check takes it for an s
        ("alice at home", malformed),
        (f"alice@{'ü' * 61}.de", malformed),  # on the wire it is longer than a domain may be
        ("alice@\u0627a.de", malformed),  # no domain is written in both directions
    ):
        for answer in (pages.sign_up(Client(), email=address), pages.change_address(browser, "add", address)):
            page = answer.content.decode()
            assert sentence in page, ascii(address)
            assert (malformed in page) == (sentence == malformed)
            assert f'value="{address}"' in page
    assert User.objects.get() == alice
    assert not EmailAddress.objects.exclude(email=alice.email).exists()


def test_an_address_may_have_any_letters_after_the_at(alice: User) -> None:
    pages.change_address(confirmed_browser(alice), "add", "alice@bücher.de")
    assert EmailAddress.objects.filter(user=alice, email="alice@bücher.de").exists()
    assert ["alice@bücher.de"] in [message.recipients() for message in pages.new_mails()]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a@bücher.de", {"a@bücher.de", "a@xn--bcher-kva.de"}),
        ("a@xn--bcher-kva.de", {"a@bücher.de", "a@xn--bcher-kva.de"}),
        ("a@example.org", {"a@example.org"}),
        ("a@b..c", {"a@b..c"}),
        ("nobody", set()),
    ],
)
def test_a_domain_has_a_unicode_and_an_ascii_spelling(given: str, expected: set[str]) -> None:
    assert set(spellings(given)) == expected


def test_the_account_page_is_for_people_who_are_logged_in(client: Client, db: None) -> None:
    assert client.get(pages.ACCOUNT).headers["Location"] == "/accounts/login/?next=/accounts/me/"


@pytest.mark.parametrize(
    ("name", "zone", "sentence"),
    [
        ("bob", "UTC", "Somebody else goes by this name."),
        ("...", "UTC", "at least one letter or number"),
        ("fine", "Mars/Olympus", "Mars/Olympus is not one of the available choices"),
    ],
)
def test_a_refused_name_is_explained_and_changes_nothing(
    alice: User, bob: User, as_alice: Client, name: str, zone: str, sentence: str
) -> None:
    answer = as_alice.post(pages.ACCOUNT, {"display_name": name, "time_zone": zone})
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    alice.refresh_from_db()
    assert (alice.display_name, alice.time_zone) == ("", "UTC")


def test_a_token_is_shown_once_and_can_be_revoked(alice: User) -> None:
    browser = confirmed_browser(alice)
    made = browser.post(pages.TOKENS, {"name": "my bot", "scope": "play", "days": "90"})
    token = made.context["new_token"]
    assert token in made.content.decode()
    used = actions.use_token(token=token, now=timezone.now())
    assert used is not None
    assert (used.user, used.scope, used.expires_at) == (alice, "play", used.created_at + timedelta(days=90))
    later = browser.get(pages.ACCOUNT).content.decode()
    assert "my bot" in later
    assert token not in later
    assert browser.post(f"/accounts/me/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 302
    assert actions.use_token(token=token, now=timezone.now()) is None


def test_the_token_of_another_user_is_not_found(alice: User, as_bob: Client) -> None:
    api_token(alice)
    assert as_bob.post(f"/accounts/me/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 404


def test_a_refused_token_is_explained_and_reading_makes_none(alice: User, as_alice: Client) -> None:
    browser = confirmed_browser(alice)
    assert browser.get(pages.TOKENS).status_code == 200
    assert browser.post(pages.TOKENS, {"name": ""}).status_code == 422
    assert as_alice.get("/accounts/me/tokens/1/revoke/").status_code == 405
    assert not ApiToken.objects.exists()
    for _ in range(actions.TOKENS_A_USER):
        api_token(alice)
    answer = browser.post(pages.TOKENS, {"name": "one more"})
    assert answer.status_code == 422
    assert "Revoke one first" in answer.content.decode()


def test_times_are_shown_in_the_zone_of_the_user(
    alice: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    actions.update_profile(user=alice, display_name="", time_zone="Asia/Tokyo", now=timezone.now())
    seen = []

    def tokens_of(user: User) -> list[ApiToken]:
        seen.append(timezone.get_current_timezone_name())
        return []

    monkeypatch.setattr("accounts.queries.tokens_of", tokens_of)
    as_alice.get(pages.ACCOUNT)
    assert seen == ["Asia/Tokyo"]
    assert timezone.get_current_timezone_name() == "UTC"
