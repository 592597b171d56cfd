"""New guests and accounts get the time zone of the browser, and come back to where they signed up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.hashers import make_password
from django.core import mail
from django.test import Client
from pytest_django.fixtures import Settings

from accounts import actions
from accounts.models import User
from accounts.zones import zone_of_browser
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.pages import CHOICES, open_table, text_of

pytestmark = pytest.mark.django_db


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
@pytest.mark.parametrize("join", [False, True])
def test_a_guest_whose_browser_names_no_place_is_asked_for_the_zone(alice: User, join: bool) -> None:
    without_scripts = ""
    not_asked = ("Asia/Calcutta", without_scripts, "UTC", "Etc/UTC", "GMT", "Etc/GMT", "+00:00")
    for named in ("Etc/GMT+5", "+05:30", "Mars/Olympus", *not_asked)[:: 3 if join else 1]:
        path = f"/games/{open_table(alice, players=6).code}/join/" if join else "/play-now/"
        browser = Client()
        shown = browser.post(path, {"browser_zone": named}, follow=True).content.decode()
        assert ('<a href="/accounts/me/">Choose your time zone</a>' in shown) == (named not in not_asked), named
        assert browser.get(pages.ACCOUNT).status_code == 200


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


def sign_up(browser: Client, **more: str) -> Any:
    return pages.sign_up(browser, **{"email": "dora@example.org", **more})


def test_a_guest_who_signs_up_at_the_end_of_a_game_returns_to_it(db: None) -> None:
    browser = logged_in(actions.create_guest(time_zone="Asia/Tokyo"))
    page = browser.get("/accounts/signup/?next=/games/abc/").content.decode()
    assert '<input type="hidden" name="next" value="/games/abc/">' in page
    assert sign_up(browser, next="/games/abc/").headers["Location"] == "/games/abc/"
    assert User.objects.get().time_zone == "Asia/Tokyo"


def confirmation_link() -> str:
    """Send what is due, and return the address in the mail."""
    return pages.links_to("confirm-email", pages.new_mails()[-1])[0]


@pytest.mark.parametrize("guest", [True, False])
def test_they_return_after_a_confirmation_that_is_mandatory(settings: Settings, guest: bool) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    browser = logged_in(actions.create_guest()) if guest else Client()
    sign_up(browser, next="/rules/?preset=flip")
    answer = browser.post(confirmation_link())
    assert answer.headers["Location"] == "/accounts/login/?next=%2Frules%2F%3Fpreset%3Dflip"
    answer = browser.post(pages.LOG_IN, {"login": "dora", "password": pages.PASSWORD, "next": "/rules/?preset=flip"})
    assert answer.headers["Location"] == "/rules/?preset=flip"


def test_the_confirmation_leads_to_no_other_site_and_in_another_browser_to_the_log_in(settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    browser = Client()
    sign_up(browser, next="https://evil.example/")
    link = confirmation_link()
    assert "after_confirmation" not in browser.session
    assert Client().post(link).headers["Location"] == pages.LOG_IN


# A wrong address where the confirmation is mandatory

SENT = pages.CONFIRM_ADDRESS
TYPO = "dora@exmaple.org"
RIGHT = {"email": "dora@example.org", "password": pages.PASSWORD}


@pytest.fixture
def with_typo(settings: Settings) -> Client:
    """Return the browser of a guest who has signed up with a wrong address."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    browser = logged_in(actions.create_guest())
    sign_up(browser, email=TYPO)
    return browser


@pytest.mark.long
@pytest.mark.parametrize("later", [False, True])
def test_a_wrong_address_can_be_corrected(with_typo: Client, later: bool) -> None:
    to_stranger, browser = confirmation_link(), Client() if later else with_typo
    if later:
        pages.log_in(browser, "dora", pages.PASSWORD)
    assert "We are sending an email to dora@exmaple.org." in text_of(browser.get(SENT))
    assert browser.post(SENT, RIGHT).headers["Location"] == SENT
    assert Client().post(to_stranger).status_code == 404
    browser.post(confirmation_link())
    assert mail.outbox[-1].to == ["dora@example.org"]
    assert pages.log_in(browser, "dora", pages.PASSWORD).headers["Location"] == "/"
    assert User.objects.get().email == "dora@example.org"


@pytest.mark.parametrize(
    "change",
    [
        lambda _: Client().post(confirmation_link()),
        lambda _: User.objects.update(password=make_password(pages.PASSWORD)),
        lambda _: TOTP.activate(User.objects.get(), "JBSWY3DPEHPK3PXP"),
        lambda _: User.objects.update(is_active=False),
        lambda browser: browser.cookies.clear(),
    ],
    ids=["confirmed", "another password", "second factor", "closed", "another browser"],
)
def test_only_a_session_that_may_change_it_can(with_typo: Client, change: Callable[[Client], object]) -> None:
    change(with_typo)
    assert '<input type="email"' not in with_typo.get(SENT).content.decode()
    assert with_typo.post(SENT, RIGHT).headers["Location"] == pages.LOG_IN
    assert EmailAddress.objects.get().email == TYPO


@pytest.mark.parametrize("wrong", [{"email": "dora@"}, {"email": TYPO}, {"password": "dora"}])
def test_a_refused_correction_changes_nothing(with_typo: Client, wrong: dict[str, str]) -> None:
    answer = with_typo.post(SENT, RIGHT | wrong)
    assert list(answer.context["form"].errors) == list(wrong)
    assert "We are sending an email to dora@exmaple.org." in text_of(answer)
    assert EmailAddress.objects.get().email == TYPO
