"""Signing up, logging in and the account page, as a browser sees them."""

import re
from datetime import timedelta
from zoneinfo import available_timezones

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user
from django.test import Client
from django.utils import timezone

from accounts import actions
from accounts.addresses import spellings
from accounts.models import ApiToken, User
from tests.conftest import api_token, logged_in
from tests.support.codes import confirmed_browser
from tests.support.mail import deliver_now

SIGN_UP = {"username": "quietotter", "password1": "a long way to Bergen", "password2": "a long way to Bergen"}


def test_time_zones_are_grouped_by_region_under_current_names(alice: User) -> None:
    html = logged_in(alice).get("/accounts/me/").content.decode()
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
    assert '<option value="Asia/Calcutta" selected>' in browser.get("/accounts/me/").content.decode()
    answer = browser.post("/accounts/me/", {"display_name": "Ally", "time_zone": "Asia/Calcutta"})
    assert answer.status_code == 302
    alice.refresh_from_db()
    assert (alice.display_name, alice.time_zone) == ("Ally", "Asia/Calcutta")
    assert browser.post("/accounts/me/", {"time_zone": "Europe/Kiev"}).status_code == 422


def test_signing_up_takes_a_time_zone(client: Client, db: None) -> None:
    client.post("/accounts/signup/", {**SIGN_UP, "time_zone": "Asia/Kolkata"})
    assert User.objects.get(username="quietotter").time_zone == "Asia/Kolkata"


def zone_shown(browser: Client) -> list[tuple[str, str]]:
    """How the sign-up page lets the browser's script choose the zone, and the zone chosen."""
    html = browser.get("/accounts/signup/").content.decode()
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

    assert browser.post("/accounts/signup/", {**SIGN_UP, "time_zone": zone}).status_code == 302
    guest.refresh_from_db()
    assert (guest.is_guest, guest.time_zone) == (False, zone)


def test_the_browser_zone_is_preselected_for_new_visitors(client: Client, db: None) -> None:
    assert zone_shown(client) == [("choose", ""), ("", "UTC")]
    refused = client.post("/accounts/signup/", {**SIGN_UP, "password2": "another", "time_zone": "UTC"})
    assert refused.status_code == 200
    assert 'data-zone="offer"' in refused.content.decode()


def test_the_name_fields_explain_the_username(client: Client, as_alice: Client) -> None:
    field = re.search(r'id="id_username_helptext">(.*?)</div>', client.get("/accounts/signup/").content.decode())
    assert field is not None
    assert "address of your public page, /people/&lt;username&gt;/, in lowercase." in field[1]
    assert "It is also the name that others see" in field[1]
    account = as_alice.get("/accounts/me/").content.decode()
    assert "address of your public page, /people/alice/." in account


def test_a_refused_form_links_to_each_error(alice: User) -> None:
    html = (
        logged_in(alice).post("/accounts/me/", {"display_name": "x" * 99, "time_zone": "Mars/Olympus"}).content.decode()
    )
    summary = html[html.index('id="errors"') : html.index("</div>", html.index('id="errors"'))]
    assert "autofocus" in html
    for name in ("display_name", "time_zone"):
        assert f'<a href="#id_{name}">' in summary
        field = re.search(rf'<(?:input|select)[^>]*id="id_{name}"[^>]*>', html)
        assert field is not None
        assert f"id_{name}_error" in field[0]
        assert f'id="id_{name}_error"' in html


@pytest.mark.parametrize("url", ["/accounts/signup/", "/accounts/login/"])
def test_a_logged_in_user_is_told_so(url: str, alice: User) -> None:
    html = logged_in(alice).get(url).content.decode()
    assert "You are logged in as alice." in html
    assert 'type="password"' not in html


def test_signing_up_without_an_email_address_logs_in(client: Client, db: None) -> None:
    answer = client.post("/accounts/signup/", SIGN_UP)

    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert get_user(client).username == "quietotter"


def test_a_guest_who_signs_up_stays_the_same_person(db: None) -> None:
    guest = actions.create_guest()
    client = logged_in(guest)

    assert client.get("/accounts/signup/").status_code == 200
    assert client.post("/accounts/signup/", SIGN_UP).status_code == 302

    person = User.objects.get()
    assert person.pk == guest.pk
    assert (person.name, person.is_guest) == ("quietotter", False)
    assert person.check_password(SIGN_UP["password1"])
    assert client.get("/accounts/me/").status_code == 200


def test_a_guests_refused_sign_up_changes_nothing(alice: User) -> None:
    guest = actions.create_guest()

    answer = logged_in(guest).post("/accounts/signup/", {**SIGN_UP, "username": "Alice"})

    assert answer.status_code == 200
    guest.refresh_from_db()
    assert guest.is_guest
    assert not guest.has_usable_password()


@pytest.mark.parametrize("username", ["robert", "ROBERT"])
def test_signing_up_with_a_taken_display_name_is_refused(client: Client, bob: User, username: str) -> None:
    actions.update_profile(user=bob, display_name="Robert", time_zone="UTC", now=timezone.now())

    answer = client.post("/accounts/signup/", {**SIGN_UP, "username": username})

    assert answer.status_code == 200
    assert answer.content.decode().count("Somebody else goes by this name.") == 2  # above the form, and at the field
    assert not User.objects.exclude(pk=bob.pk).exists()


def test_a_guest_can_sign_up_with_their_own_name(db: None) -> None:
    guest = actions.create_guest()
    actions.update_profile(user=guest, display_name="QuietOtter", time_zone="UTC", now=timezone.now())

    assert logged_in(guest).post("/accounts/signup/", SIGN_UP).status_code == 302
    assert (User.objects.get().name, User.objects.get().username) == ("QuietOtter", "quietotter")


def test_a_guest_who_logs_in_to_an_account_keeps_the_tables_opened_by_link(alice: User) -> None:
    client = logged_in(actions.create_guest())
    session = client.session
    session["links"] = ["abc", "def"]
    session.save()

    client.post("/accounts/login/", {"login": "alice", "password": "alice"})

    assert get_user(client) == alice
    assert client.session["links"] == ["abc", "def"]


def test_invitations_of_another_account_are_not_taken_along(alice: User, as_bob: Client) -> None:
    session = as_bob.session
    session["links"] = ["abc"]
    session.save()

    as_bob.post("/accounts/login/", {"login": "alice", "password": "alice"})

    assert get_user(as_bob) == alice
    assert "links" not in as_bob.session


def test_signing_up_while_logged_in_creates_another_account(alice: User, as_alice: Client) -> None:
    as_alice.post("/accounts/signup/", SIGN_UP)

    alice.refresh_from_db()
    assert alice.username == "alice"
    assert User.objects.filter(username="quietotter").exists()


@pytest.mark.parametrize("name", ["guest-1", "admin", "me@home", "x"])
def test_a_forbidden_username_is_refused(client: Client, db: None, name: str) -> None:
    answer = client.post("/accounts/signup/", {**SIGN_UP, "username": name})

    assert answer.status_code == 200
    assert not User.objects.exists()


def test_the_first_log_in_field_has_a_label(client: Client) -> None:
    page = client.get("/accounts/login/").content.decode()
    assert '<label for="id_login">Username or email</label>' in page
    assert 'autocomplete="username"' in page


@pytest.mark.parametrize("login", ["alice", "Alice", "alice@example.org"])
def test_log_in_works_by_username_and_by_email(client: Client, alice: User, login: str) -> None:
    answer = client.post("/accounts/login/", {"login": login, "password": "alice"})

    assert answer.status_code == 302
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_logging_out_takes_a_click(as_alice: Client) -> None:
    assert as_alice.get("/accounts/logout/").status_code == 200
    assert "_auth_user_id" in as_alice.session
    assert as_alice.post("/accounts/logout/").status_code == 302
    assert "_auth_user_id" not in as_alice.session


NO_MAIL_GETS_THERE = (
    "Use an address with only unaccented letters, digits and signs before the @. We can’t send to others."
)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("älice@example.org", NO_MAIL_GETS_THERE),
        ("ali\u017fe@example.org", NO_MAIL_GETS_THERE),  # a long s: Django's own check takes it for an s
        ("alice at home", "Enter a valid email address."),
        (f"alice@{'ü' * 61}.de", "Enter a valid email address."),  # on the wire it is longer than a domain may be
        ("alice@\u0627a.de", "Enter a valid email address."),  # no domain is written in both directions
    ],
)
def test_an_unreachable_mail_address_is_refused(client: Client, alice: User, address: str, sentence: str) -> None:
    pages = [
        Client().post("/accounts/signup/", SIGN_UP | {"email": address}).content.decode(),
        confirmed_browser(alice).post("/accounts/email/", {"action_add": "", "email": address}).content.decode(),
    ]
    for page in pages:
        assert sentence in page
        assert ("Enter a valid email address." in page) == (sentence != NO_MAIL_GETS_THERE)
        assert f'value="{address}"' in page
    assert not User.objects.filter(username=SIGN_UP["username"]).exists()
    assert not EmailAddress.objects.filter(email=address).exists()


def test_an_address_may_have_any_letters_after_the_at(alice: User) -> None:
    confirmed_browser(alice).post("/accounts/email/", {"action_add": "", "email": "alice@bücher.de"})
    assert EmailAddress.objects.filter(user=alice, email="alice@bücher.de").exists()
    assert ["alice@bücher.de"] in [message.recipients() for message in deliver_now()]


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


def test_a_forgotten_password_is_reset_by_mail(client: Client, alice: User) -> None:
    client.post("/accounts/password/reset/", {"email": "alice@example.org"})

    (sent,) = deliver_now()
    assert sent.to == ["alice@example.org"]
    assert "/accounts/password/reset/key/" in str(sent.body)


def test_the_account_page_is_for_people_who_are_logged_in(client: Client, db: None) -> None:
    assert client.get("/accounts/me/").headers["Location"] == "/accounts/login/?next=/accounts/me/"


@pytest.mark.long
def test_the_account_page_changes_name_and_time_zone(alice: User, as_alice: Client) -> None:
    answer = as_alice.post("/accounts/me/", {"display_name": "Alice L", "time_zone": "Asia/Tokyo"})

    assert answer.status_code == 302
    alice.refresh_from_db()
    assert (alice.name, alice.time_zone) == ("Alice L", "Asia/Tokyo")


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
    answer = as_alice.post("/accounts/me/", {"display_name": name, "time_zone": zone})

    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    alice.refresh_from_db()
    assert (alice.display_name, alice.time_zone) == ("", "UTC")


def test_a_token_is_shown_once_and_can_be_revoked(alice: User) -> None:
    browser = confirmed_browser(alice)
    made = browser.post("/accounts/me/tokens/", {"name": "my bot", "scope": "play", "days": "90"})
    token = made.context["new_token"]

    assert token in made.content.decode()
    used = actions.use_token(token=token, now=timezone.now())
    assert used is not None
    assert (used.user, used.scope, used.expires_at) == (alice, "play", used.created_at + timedelta(days=90))
    later = browser.get("/accounts/me/").content.decode()
    assert "my bot" in later
    assert token not in later

    assert browser.post(f"/accounts/me/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 302
    assert actions.use_token(token=token, now=timezone.now()) is None


def test_the_token_of_another_user_is_not_found(alice: User, as_bob: Client) -> None:
    api_token(alice)

    assert as_bob.post(f"/accounts/me/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 404


def test_a_token_needs_a_name(alice: User) -> None:
    assert confirmed_browser(alice).post("/accounts/me/tokens/", {"name": ""}).status_code == 422
    assert not ApiToken.objects.exists()


def test_one_token_too_many_is_explained(alice: User) -> None:
    for _ in range(actions.TOKENS_A_USER):
        api_token(alice)

    answer = confirmed_browser(alice).post("/accounts/me/tokens/", {"name": "one more"})

    assert answer.status_code == 422
    assert "Revoke one first" in answer.content.decode()


def test_reading_changes_nothing(alice: User, as_alice: Client) -> None:
    assert confirmed_browser(alice).get("/accounts/me/tokens/").status_code == 200
    assert not ApiToken.objects.exists()
    assert as_alice.get("/accounts/me/tokens/1/revoke/").status_code == 405


def test_times_are_shown_in_the_zone_of_the_user(
    alice: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    actions.update_profile(user=alice, display_name="", time_zone="Asia/Tokyo", now=timezone.now())
    seen = []

    def tokens_of(user: User) -> list[ApiToken]:
        seen.append(timezone.get_current_timezone_name())
        return []

    monkeypatch.setattr("accounts.queries.tokens_of", tokens_of)

    as_alice.get("/accounts/me/")

    assert seen == ["Asia/Tokyo"]
    assert timezone.get_current_timezone_name() == "UTC"
