"""Superusers make accounts, also where nobody can sign up."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.models import AuditEntry
from games.refusals import Denied
from games.staff.new_accounts import make_account
from tests.support.codes import staff_browser
from tests.support.mail import deliver_now
from tests.support.pages import text_of

pytestmark = pytest.mark.django_db

PAGE: Final = "/admin/accounts/user/make/"
PASSWORD: Final = "four green reverses"
FORM: Final = {
    "username": "Dora", "email": "Dora@example.org", "reason": "She asked at the club", "seen": "0-0",
}  # fmt: skip


def made(by: User, **more: Any) -> AuditEntry:
    given = {"username": "dora", "email": "dora@example.org", "reason": FORM["reason"], **more}
    return make_account(new_account_id=0, by=by, now=timezone.now(), **given)


@pytest.mark.long
def test_a_superuser_makes_an_account_and_its_owner_chooses_the_password(root: User, settings: Any) -> None:
    settings.REGISTRATION, settings.GUESTS, settings.LOGIN_REQUIRED = "closed", False, True
    desk = staff_browser(root)
    assert f'href="{PAGE}"' in desk.get("/admin/accounts/user/").content.decode()
    assert "The account has no password." in text_of(desk.get(PAGE))

    done = desk.post(PAGE, FORM)

    dora = User.objects.get(username="dora")
    assert done["Location"] == f"/admin/accounts/user/{dora.pk}/change/"
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.actor, entry.person, entry.reason) == ("make_account", root, dora, FORM["reason"])
    assert not dora.has_usable_password()
    assert not EmailAddress.objects.get(user=dora).verified
    (sent,) = deliver_now()
    assert sent.to == ["dora@example.org"]
    link = re.search(rf"{settings.SITE_URL}(/accounts/password/reset/key/\S+)", str(sent.body))
    assert link is not None
    browser = Client()
    form = browser.get(link[1], follow=True)
    browser.post(form.request["PATH_INFO"], {"password1": PASSWORD, "password2": PASSWORD})
    assert browser.post("/accounts/login/", {"login": "dora", "password": PASSWORD})["Location"] == "/"
    assert browser.get("/").status_code == 200


def test_a_second_click_makes_no_second_account(root: User) -> None:
    desk = staff_browser(root)
    desk.post(PAGE, FORM)
    again = desk.post(PAGE, FORM)
    assert again.status_code == 400
    assert "Nothing has been done." in text_of(again)
    assert AuditEntry.objects.count() == 1


WRONG: Final[list[dict[str, str]]] = [
    {"username": "alice"}, {"username": "a b"}, {"email": "nowhere"}, {"email": "a@b@c"}, {"reason": "x"},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_is_wrong_is_refused(root: User, alice: User, wrong: dict[str, str]) -> None:
    answer = staff_browser(root).post(PAGE, {**FORM, **wrong})
    assert answer.status_code in (400, 422)
    with pytest.raises(Denied) as denied:
        made(root, **wrong)
    assert denied.value.code == "malformed"
    assert not User.objects.filter(username="dora").exists()
    assert not AuditEntry.objects.exists()


def test_an_address_that_somebody_has_confirmed_is_refused(root: User, alice: User) -> None:
    EmailAddress.objects.create(user=alice, email="dora@example.org", verified=True, primary=True)
    with pytest.raises(Denied, match="Another account has confirmed this address"):
        made(root)
    assert not User.objects.filter(username="dora").exists()


@pytest.mark.long
def test_only_superusers_make_accounts(ann: User, mo: User) -> None:
    for by in (ann, mo):
        desk = staff_browser(by)
        assert desk.get(PAGE).status_code == 403
        assert desk.post(PAGE, FORM).status_code == 403
        assert PAGE not in desk.get("/admin/accounts/user/").content.decode()
        with pytest.raises(Denied, match="permission"):
            made(by)
