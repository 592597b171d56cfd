"""Invitations to sign up: who makes them, and that each works once and for some days."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
from django.test import Client
from django.utils import timezone

from accounts import invitations
from accounts.models import SignUpInvitation, User
from games.models import AuditEntry
from games.staff import people
from games.staff.invitations import revoke_invitations
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.pages import text_of

pytestmark = pytest.mark.django_db

PASSWORD: Final = "four green reverses"
FORM: Final = {"username": "newcomer", "email": "", "password1": PASSWORD, "password2": PASSWORD}
WHY: Final = "They invite bots"


@pytest.fixture(autouse=True)
def _by_invitation(settings: Any) -> None:
    settings.REGISTRATION, settings.INVITATIONS = "invite", "members"


def invited_by(user: User, now: datetime | None = None) -> str:
    """Return the path of a new invitation."""
    key = invitations.invite(user=user, note="for Dora", days=7, now=now or timezone.now())
    return f"/accounts/invitation/{key}/"


def test_a_member_makes_a_link_that_is_shown_once(as_alice: Client, alice: User, settings: Any) -> None:
    made = as_alice.post("/accounts/invitations/", {"note": "Dora <3", "days": "1"})

    link = re.search(rf'value="{settings.SITE_URL}(/accounts/invitation/[-\w]+/)"', made.content.decode())
    assert link is not None
    assert made["Cache-Control"].startswith("no-store, private")
    assert "Content-Encoding" not in made
    row = SignUpInvitation.objects.get()
    assert link[1].split("/")[-2] not in (row.digest, row.note)
    assert row.expires_at - row.created_at == timedelta(days=1)
    listed = as_alice.get("/accounts/invitations/")
    assert "Dora &lt;3" in listed.content.decode()
    assert "/accounts/invitation/" not in listed.content.decode()
    assert 'href="/accounts/invitations/"' in as_alice.get("/accounts/me/").content.decode()


def test_a_visitor_signs_up_by_invitation_and_only_so(client: Client, alice: User) -> None:
    refused = client.post("/accounts/signup/", FORM)
    assert refused.status_code == 403
    assert "you need an invitation to sign up" in text_of(refused)

    path = invited_by(alice)
    page = client.get(path)
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    assert not SignUpInvitation.objects.exclude(used_at=None)
    assert client.post(path, FORM)["Location"] == "/"
    row = SignUpInvitation.objects.get()
    assert (row.used_by, row.state(timezone.now())) == (User.objects.get(username="newcomer"), "used")
    assert client.get("/accounts/me/").status_code == 200


def test_an_invitation_works_once(client: Client, alice: User) -> None:
    path = invited_by(alice)
    client.post(path, FORM)
    for again in (Client().get(path), Client().post(path, {**FORM, "username": "another"})):
        assert again.status_code == 410
        assert "This invitation has been used. Each works once." in text_of(again)
        assert "no-store" in again["Cache-Control"]
    assert not User.objects.filter(username="another").exists()


def test_of_two_who_use_it_at_once_one_gets_an_account(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = invited_by(alice)
    key, now = path.split("/")[-2], timezone.now()
    found = invitations.find(key, now)
    client.post(path, FORM)
    monkeypatch.setattr(invitations, "find", lambda key, now: found)  # the second was let in before the first was done

    second = Client().post(path, {**FORM, "username": "another"})

    assert second.status_code == 410
    assert not User.objects.filter(username="another").exists()


def test_a_refused_form_does_not_use_it_up(client: Client, alice: User) -> None:
    path = invited_by(alice)
    wrong = client.post(path, {**FORM, "username": "alice"})
    assert (wrong.status_code, wrong.templates[0].name) == (200, "account/signup.html")
    assert f'action="{path}"' in wrong.content.decode()
    assert client.post(path, FORM).status_code == 302


def test_a_guest_keeps_the_games_with_an_invitation(client: Client, alice: User) -> None:
    client.post("/play-now/")
    guest = User.objects.get(is_guest=True)
    assert client.post(invited_by(alice), FORM).status_code == 302
    guest.refresh_from_db()
    assert (guest.username, guest.is_guest) == ("newcomer", False)


def test_it_ends(client: Client, as_alice: Client, alice: User) -> None:
    expired, revoked = invited_by(alice, timezone.now() - timedelta(days=8)), invited_by(alice)
    number = SignUpInvitation.objects.latest("pk").pk
    assert as_alice.post(f"/accounts/invitations/{number}/revoke/")["Location"] == "/accounts/invitations/"
    assert as_alice.post(f"/accounts/invitations/{number}/revoke/").status_code == 404
    for path, sentence in ((expired, "has expired. Ask for another."), (revoked, "has been revoked. Ask for another.")):
        for answer in (client.get(path), client.post(path, FORM)):
            assert answer.status_code == 410
            assert sentence in text_of(answer)
    for unknown in ("x", "x" * 43, "é" * 20, "x" * 200):
        assert client.get(f"/accounts/invitation/{unknown}/").status_code == 404


def test_nobody_revokes_the_invitation_of_somebody_else(as_bob: Client, alice: User) -> None:
    path = invited_by(alice)
    number = SignUpInvitation.objects.get().pk
    assert as_bob.post(f"/accounts/invitations/{number}/revoke/").status_code == 404
    assert Client().get(path).status_code == 200


@pytest.mark.parametrize("end", ["suspended", "closed", "staff only", "registration closed"])
def test_it_ends_with_the_right_to_invite(client: Client, alice: User, mo: User, settings: Any, end: str) -> None:
    path, now = invited_by(alice), timezone.now()
    match end:
        case "suspended":
            people.suspend(person_id=alice.pk, by=mo, days=1, reason=WHY, now=now)
        case "closed":
            User.objects.filter(pk=alice.pk).update(is_active=False)
        case "staff only":
            settings.INVITATIONS = "staff"
        case _:
            settings.REGISTRATION = "closed"
    assert client.post(path, FORM).status_code == 410
    assert not User.objects.filter(username="newcomer").exists()


def test_where_everybody_can_sign_up_a_link_leads_there(client: Client, alice: User, settings: Any) -> None:
    path = invited_by(alice)
    settings.REGISTRATION = "open"
    assert client.get(path)["Location"] == "/accounts/signup/"


def test_who_may_invite(as_alice: Client, alice: User, mo: User, settings: Any) -> None:
    settings.INVITATIONS = "staff"
    assert as_alice.post("/accounts/invitations/", {"days": "7"}).status_code == 403
    assert "/accounts/invitations/" not in as_alice.get("/accounts/me/").content.decode()
    assert logged_in(mo).post("/accounts/invitations/", {"days": "7"}).status_code == 200
    settings.INVITATIONS = "members"
    guest = Client()
    guest.post("/play-now/")
    assert guest.get("/accounts/invitations/").status_code == 403
    assert Client().get("/accounts/invitations/")["Location"].startswith("/accounts/login/")


def test_a_person_has_so_many_invitations(as_alice: Client, alice: User, mo: User) -> None:
    now = timezone.now()
    for _ in range(invitations.MOST_OPEN):
        invited_by(alice)
    refused = as_alice.post("/accounts/invitations/", {"days": "7"})
    assert refused.status_code == 422
    assert "You have 10 invitations that nobody has used yet. Revoke one first." in text_of(refused)
    invited_by(mo)
    for _ in range(2):
        invitations.revoke_all(user=alice, now=now)
        for _ in range(invitations.MOST_OPEN):
            invited_by(alice)
    invitations.revoke_all(user=alice, now=now)
    refused = as_alice.post("/accounts/invitations/", {"days": "7"})
    assert "You can make 30 invitations in 30 days." in text_of(refused)
    assert as_alice.post("/accounts/invitations/", {"days": "365"}).status_code == 422


def test_moderators_see_all_and_revoke_those_of_a_person(client: Client, alice: User, mo: User) -> None:
    path = invited_by(alice)
    desk = staff_browser(mo)
    assert "for Dora" in text_of(desk.get("/admin/accounts/signupinvitation/"))
    row = SignUpInvitation.objects.get()
    shown = desk.get(f"/admin/accounts/signupinvitation/{row.pk}/change/")
    assert shown.status_code == 200
    assert row.digest not in shown.content.decode()

    act = f"/admin/accounts/user/{alice.pk}/act/revoke_invitations/"
    seen = {"reason": WHY, "seen": f"{10**9}-{10**9}"}
    assert desk.post(act, seen)["Location"] == f"/admin/accounts/user/{alice.pk}/change/"
    entry = AuditEntry.objects.get(act="revoke_invitations")
    assert (entry.person, entry.reason, entry.details["revoked"]) == (alice, WHY, 1)
    assert client.post(path, FORM).status_code == 410
    assert desk.post(act, seen).status_code == 404


def test_an_act_without_an_invitation_is_refused(alice: User, mo: User) -> None:
    with pytest.raises(Exception, match="alice has no invitation that works"):
        revoke_invitations(person_id=alice.pk, by=mo, reason=WHY, now=timezone.now())
