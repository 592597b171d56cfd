"""New guests and accounts get the time zone of the browser, and come back to where they signed up."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.hashers import make_password
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts import actions
from accounts.models import User
from accounts.zones import zone_of_browser
from games.notices import outbox
from tests.conftest import logged_in
from tests.support.pages import CHOICES, open_table, text_of

pytestmark = pytest.mark.django_db

PASSWORD = "four green reverses"
FORM = {"username": "dora", "email": "dora@example.org", "password1": PASSWORD, "password2": PASSWORD}


@pytest.mark.parametrize(
    ("named", "zone"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("Asia/Calcutta", "Asia/Kolkata"),
        ("", "UTC"),
        ("Mars/Olympus", "UTC"),
        ("../../etc/passwd", "UTC"),
        ("europe/berlin", "UTC"),
        ("E" * 60_000, "UTC"),
        ("Etc/GMT+5", "Etc/GMT+5"),
        ("-05:00", "Etc/GMT+5"),
        ("+05:30", "Asia/Colombo"),
        ("+0545", "Asia/Kathmandu"),
        ("-03:30", "UTC"),  # all zones with it have summer time
        ("+05:99", "UTC"),
        ("+٠٥:٣٠", "UTC"),
        ("Etc/UTC", "UTC"),
        ("+00:00", "UTC"),
    ],
)
def test_a_browser_names_a_zone_by_its_present_or_a_former_name(named: str, zone: str) -> None:
    assert zone_of_browser(named) == zone
    Client().post("/play-now/", {"browser_zone": named})
    assert User.objects.get().time_zone == zone


@pytest.mark.long
@pytest.mark.parametrize(
    ("named", "asked"),
    [
        ("Etc/GMT+5", True),
        ("+05:30", True),
        ("Mars/Olympus", True),
        ("Asia/Calcutta", False),
        ("", False),  # without scripts
        *[(name, False) for name in ("UTC", "Etc/UTC", "GMT", "Etc/GMT", "+00:00")],
    ],
)
def test_a_guest_whose_browser_names_no_place_is_asked_for_the_zone(alice: User, named: str, asked: bool) -> None:
    for path in ("/play-now/", f"/games/{open_table(alice, players=6).code}/join/"):
        browser = Client()
        shown = browser.post(path, {"browser_zone": named}, follow=True).content.decode()
        assert ('<a href="/accounts/me/">Choose your time zone</a>' in shown) == asked
        assert browser.get("/accounts/me/").status_code == 200


@pytest.mark.long
def test_every_form_that_makes_a_guest_takes_the_zone(alice: User) -> None:
    game = open_table(alice, players=6)
    private = open_table(alice, players=6, public=False)
    forms = {
        "/": ("/play-now/", {}),
        "/tables/new/": ("/tables/new/", CHOICES),
        f"/games/{game.code}/": (f"/games/{game.code}/join/", {}),
        f"/join/{private.invite_key}/": (f"/join/{private.invite_key}/", {}),
    }
    for page, (path, fields) in forms.items():
        browser = Client()
        shown = browser.get(page).content.decode()
        assert '<input type="hidden" name="browser_zone">' in shown
        assert "js/zone.js" in shown
        before = set(User.objects.values_list("pk", flat=True))
        assert browser.post(path, {**fields, "browser_zone": "Asia/Tokyo"}).status_code == 303
        assert User.objects.exclude(pk__in=before).get().time_zone == "Asia/Tokyo", path


@pytest.mark.long
def test_who_has_an_account_sends_no_zone(as_alice: Client, bob: User) -> None:
    game = open_table(bob, players=6)
    for page in ("/", "/tables/new/", f"/games/{game.code}/"):
        assert "browser_zone" not in as_alice.get(page).content.decode()


def test_the_sign_up_form_picks_the_browsers_zone_for_a_guest_in_utc(db: None) -> None:
    guest = actions.create_guest()
    browser = logged_in(guest)
    assert 'data-zone="choose"' in browser.get("/accounts/signup/").content.decode()
    browser.post("/accounts/signup/", {**FORM, "time_zone": "Asia/Tokyo"})
    guest.refresh_from_db()
    assert (guest.is_guest, guest.time_zone) == (False, "Asia/Tokyo")


def test_a_guest_who_signs_up_at_the_end_of_a_game_returns_to_it(db: None) -> None:
    browser = logged_in(actions.create_guest(time_zone="Asia/Tokyo"))
    page = browser.get("/accounts/signup/?next=/games/abc/").content.decode()
    assert '<input type="hidden" name="next" value="/games/abc/">' in page
    answer = browser.post("/accounts/signup/", {**FORM, "next": "/games/abc/"})
    assert answer.headers["Location"] == "/games/abc/"
    assert User.objects.get().time_zone == "Asia/Tokyo"


def confirmation_link() -> str:
    """Send what is due, and return the address in the mail."""
    outbox.deliver(clock=timezone.now)
    found = re.search(r"http://[^/]+(/accounts/confirm-email/\S+)", str(mail.outbox[-1].body))
    assert found is not None
    return found[1]


@pytest.mark.parametrize("guest", [True, False])
def test_they_return_after_a_confirmation_that_is_mandatory(settings: Settings, guest: bool) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    browser = logged_in(actions.create_guest()) if guest else Client()
    browser.post("/accounts/signup/", {**FORM, "next": "/rules/?preset=flip"})
    answer = browser.post(confirmation_link())
    assert answer.headers["Location"] == "/accounts/login/?next=%2Frules%2F%3Fpreset%3Dflip"
    answer = browser.post("/accounts/login/", {"login": "dora", "password": PASSWORD, "next": "/rules/?preset=flip"})
    assert answer.headers["Location"] == "/rules/?preset=flip"


def test_the_confirmation_leads_to_no_other_site_and_in_another_browser_to_the_log_in(settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    browser = Client()
    browser.post("/accounts/signup/", {**FORM, "next": "https://evil.example/"})
    link = confirmation_link()
    assert "after_confirmation" not in browser.session
    assert Client().post(link).headers["Location"] == "/accounts/login/"


# A wrong address where the confirmation is mandatory

SENT = "/accounts/confirm-email/"
TYPO = FORM | {"email": "dora@exmaple.org"}
RIGHT = {"email": "dora@example.org", "password": PASSWORD}


@pytest.fixture
def with_typo(settings: Settings) -> Client:
    """Return the browser of a guest who has signed up with a wrong address."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    browser = logged_in(actions.create_guest())
    browser.post("/accounts/signup/", TYPO)
    return browser


@pytest.mark.long
@pytest.mark.parametrize("later", [False, True])
def test_a_wrong_address_can_be_corrected(with_typo: Client, later: bool) -> None:
    to_stranger, browser = confirmation_link(), Client() if later else with_typo
    if later:
        browser.post("/accounts/login/", {"login": "dora", "password": PASSWORD})
    assert "We are sending an email to dora@exmaple.org." in text_of(browser.get(SENT))
    assert browser.post(SENT, RIGHT).headers["Location"] == SENT
    assert Client().post(to_stranger).status_code == 404
    browser.post(confirmation_link())
    assert mail.outbox[-1].to == ["dora@example.org"]
    assert browser.post("/accounts/login/", {"login": "dora", "password": PASSWORD}).headers["Location"] == "/"
    assert User.objects.get().email == "dora@example.org"


@pytest.mark.parametrize(
    "change",
    [
        lambda _: Client().post(confirmation_link()),
        lambda _: User.objects.update(password=make_password(PASSWORD)),
        lambda _: TOTP.activate(User.objects.get(), "JBSWY3DPEHPK3PXP"),
        lambda _: User.objects.update(is_active=False),
        lambda browser: browser.cookies.clear(),
    ],
    ids=["confirmed", "another password", "second factor", "closed", "another browser"],
)
def test_only_a_session_that_may_change_it_can(with_typo: Client, change: Callable[[Client], object]) -> None:
    change(with_typo)
    assert '<input type="email"' not in with_typo.get(SENT).content.decode()
    assert with_typo.post(SENT, RIGHT).headers["Location"] == "/accounts/login/"
    assert EmailAddress.objects.get().email == TYPO["email"]


@pytest.mark.parametrize("wrong", [{"email": "dora@"}, {"email": TYPO["email"]}, {"password": "dora"}])
def test_a_refused_correction_changes_nothing(with_typo: Client, wrong: dict[str, str]) -> None:
    answer = with_typo.post(SENT, RIGHT | wrong)
    assert list(answer.context["form"].errors) == list(wrong)
    assert "We are sending an email to dora@exmaple.org." in text_of(answer)
    assert EmailAddress.objects.get().email == TYPO["email"]
