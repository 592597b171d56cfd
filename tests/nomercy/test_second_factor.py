"""The staff pages need a second factor, and lead staff to set it up or show it."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, validate_totp_code
from django.contrib.auth import get_user
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.models import Warned
from games.staff.accounts import drop_factor
from nomercy.staff import FACTOR_SECONDS
from tests.conftest import logged_in, person
from tests.support.codes import show_factor, staff_browser, totp

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
PAGES = ("/admin/", "/admin/games/game/", "/admin/accounts/user/", "/admin/games/auditentry/")


def test_codes_match_the_rfc() -> None:
    # RFC 6238, appendix B, the last six of the eight digits that SHA-1 gives.
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    assert [totp(secret, at) for at in (59, 1_111_111_109, 2_000_000_000)] == ["287082", "081804", "279037"]


@pytest.mark.parametrize("page", PAGES)
def test_a_password_alone_opens_no_staff_page(mo: User, page: str) -> None:
    answer = logged_in(mo).get(page)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/admin/login/")


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_staff_without_a_second_factor_must_set_one_up(mo: User) -> None:
    browser = Client()
    browser.post("/accounts/login/", {"login": "mo", "password": "mo"})
    assert browser.get("/admin/login/", follow=True).redirect_chain[0][0] == "/accounts/2fa/totp/activate/"

    page = browser.get("/accounts/2fa/totp/activate/")
    assert "data:image/svg+xml" in page.content.decode()
    secret = page.context["form"].secret
    wrong = browser.post("/accounts/2fa/totp/activate/", {"code": "abcdef"})
    assert wrong.status_code == 200
    assert browser.get("/admin/").status_code == 302
    assert f'<output id="authenticator_secret" class="to-copy">{secret}</output>' in page.content.decode()
    done = browser.post("/accounts/2fa/totp/activate/", {"code": totp(secret)}, follow=True)
    assert done.redirect_chain[-1][0] == "/accounts/2fa/recovery-codes/"
    for shown in (done, browser.get("/accounts/2fa/")):
        assert 'href="/admin/">Go to the staff pages</a>' in shown.content.decode()
    assert "you can log in once with each of these codes" in done.content.decode()
    assert browser.get("/admin/").status_code == 200
    assert Authenticator.objects.filter(user=mo).count() == 2  # and recovery codes


@pytest.mark.long
def test_a_log_in_asks_for_the_second_factor_and_opens_the_staff_pages(mo: User) -> None:
    TOTP.activate(mo, SECRET)
    browser = Client()
    answer = browser.post("/accounts/login/?next=/admin/", {"login": "mo", "password": "mo"})
    assert answer.headers["Location"].startswith("/accounts/2fa/authenticate/")
    assert not get_user(browser).is_authenticated
    assert browser.post("/accounts/2fa/authenticate/", {"code": "000000x"}).status_code == 200
    assert not get_user(browser).is_authenticated
    answer = browser.post("/accounts/2fa/authenticate/", {"code": totp(SECRET)})
    assert answer.headers["Location"] == "/admin/"
    assert browser.get("/admin/").status_code == 200


@pytest.mark.parametrize(("steps", "taken"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_codes_one_step_early_or_late_are_accepted(monkeypatch: pytest.MonkeyPatch, steps: int, taken: bool) -> None:
    now = 1_700_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    assert validate_totp_code(SECRET, totp(SECRET, now + 30 * steps)) is taken


def test_an_old_session_must_show_its_second_factor(mo: User) -> None:
    browser = logged_in(mo)
    TOTP.activate(mo, SECRET)
    answer = browser.get("/admin/login/")
    assert answer.headers["Location"] == "/accounts/2fa/reauthenticate/?next=%2Fadmin%2F"
    assert browser.post(answer.headers["Location"], {"code": totp(SECRET)}).headers["Location"] == "/admin/"
    assert browser.get("/admin/").status_code == 200


def test_staff_must_show_their_second_factor_every_twelve_hours(mo: User, alice: User) -> None:
    TOTP.activate(mo, SECRET)
    browser = logged_in(mo)
    show_factor(browser.session, mo, ago=FACTOR_SECONDS - 60)
    page = f"/admin/accounts/user/{alice.pk}/act/warn/"
    assert browser.get(page).status_code == 200
    show_factor(browser.session, mo, ago=FACTOR_SECONDS)
    answer = browser.post(page, {"reason": "Abuse", "text": "Stop"}, follow=True)
    assert answer.redirect_chain[-1][0] == f"/accounts/2fa/reauthenticate/?{urlencode({'next': page}, safe='')}"
    assert "If you have just sent a form, send it again." in answer.content.decode()
    assert not Warned.objects.exists()
    assert browser.post(answer.redirect_chain[-1][0], {"code": totp(SECRET)}).headers["Location"] == page
    assert browser.get(page).status_code == 200


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "/about/", "\\\\evil"])
def test_confirming_leads_back_to_staff_pages_only(mo: User, elsewhere: str) -> None:
    browser = logged_in(mo)
    TOTP.activate(mo, SECRET)
    answer = browser.get("/admin/login/", {"next": elsewhere})
    assert answer.headers["Location"] == "/accounts/2fa/reauthenticate/?next=%2Fadmin%2F"


def test_a_second_factor_of_another_user_does_not_count(mo: User, ann: User) -> None:
    browser = staff_browser(ann)
    session = browser.session
    session["_auth_user_id"], session["_auth_user_hash"] = str(mo.pk), mo.get_session_auth_hash()
    session.save()
    assert get_user(browser) == mo
    assert browser.get("/admin/").status_code == 302


@pytest.mark.long
@pytest.mark.parametrize("how", ["taken away by staff", "taken away and set up again", "given up"])
def test_a_removed_second_factor_does_not_open_the_staff_pages(mo: User, how: str) -> None:
    """A lost phone, or a browser that once showed it, gives no access after a new factor was set up."""
    browser = staff_browser(mo)
    assert browser.get("/admin/").status_code == 200
    if how == "given up":
        Authenticator.objects.filter(user=mo).delete()
    else:
        root = person("root")
        User.objects.filter(pk=root.pk).update(is_staff=True, is_superuser=True)
        root.refresh_from_db()
        drop_factor(person_id=mo.pk, by=root, reason="Lost the telephone", now=timezone.now())
    expected = "/accounts/2fa/totp/activate/"
    if how.endswith("again"):
        TOTP.activate(mo, SECRET)
        expected = "/accounts/2fa/reauthenticate/?next=%2Fadmin%2F"
    assert browser.get("/admin/").status_code == 302
    assert browser.get("/admin/accounts/user/").headers["Location"].startswith("/admin/login/")
    assert browser.get("/admin/login/").headers["Location"] == expected


def test_new_recovery_codes_keep_the_session_valid(mo: User) -> None:
    browser = staff_browser(mo)
    RecoveryCodes.activate(mo)
    assert browser.get("/admin/").status_code == 200


def test_the_admin_log_in_form_is_not_used(client: Client, mo: User, alice: User) -> None:
    credentials = {"username": "mo", "password": "mo", "next": "/admin/"}
    assert client.post("/admin/login/", credentials).headers["Location"].startswith("/accounts/login/")
    assert logged_in(alice).post("/admin/login/", credentials).status_code == 403
    assert staff_browser(mo).post("/admin/login/", credentials).headers["Location"] == "/admin/"
    assert staff_browser(mo).post("/admin/password_change/").headers["Location"] == "/accounts/password/change/"


def test_staff_see_no_secret_of_a_second_factor(alice: User) -> None:
    alice.is_staff = alice.is_superuser = True
    alice.save(update_fields=["is_staff", "is_superuser"])
    kept = TOTP.activate(alice, SECRET).instance
    browser = staff_browser(alice)
    for page in ("/admin/mfa/authenticator/", f"/admin/mfa/authenticator/{kept.pk}/change/"):
        answer = browser.get(page)
        assert answer.status_code == 200
        assert SECRET not in answer.content.decode()
