"""No page or command accepts a name that looks like another person's. Older names stay."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from accounts import actions, queries
from accounts.models import NameSkeleton, User
from accounts.names import name_skeletons
from games.actions import lobby
from games.actions.housekeeping import forget_guests
from games.models import Seat
from games.queries import Viewer
from games.refusals import Denied
from games.staff import accounts, people
from tests.conftest import logged_in, person
from tests.support.web import at_once

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SIGN_UP = {"password1": "a long way to Bergen", "password2": "a long way to Bergen"}
ALIKE = "\u0430\u04cf\u0456\u0441\u0435"
"""Alice in Cyrillic letters only, so that no rule about scripts refuses it."""
REASON = "Their name at the table"


def renamed(user: User, **names: str) -> None:
    """Store names of a person without checking them, as under older rules."""
    User.objects.filter(pk=user.pk).update(**names)
    user.refresh_from_db()


def held() -> set[tuple[str, str]]:
    return set(NameSkeleton.objects.filter(freed_at=None).values_list("user__username", "skeleton"))


@pytest.mark.django_db
def test_a_new_account_costs_no_search_for_names_that_it_held() -> None:
    with CaptureQueriesContext(connection) as statements:
        person("alice")
    assert not [one["sql"] for one in statements if one["sql"].startswith("SELECT") and "nameskeleton" in one["sql"]]
    assert held() == {("alice", "allce")}


@pytest.mark.django_db
def test_signing_up_with_a_look_alike_username_is_refused(alice: User, client: Client) -> None:
    answer = client.post("/accounts/signup/", {**SIGN_UP, "username": "a1ice"})
    assert answer.status_code == 200
    assert queries.NAME_ALIKE in answer.content.decode()
    assert User.objects.get() == alice


@pytest.mark.django_db
def test_signing_up_with_a_look_alike_of_a_display_name_is_refused(bob: User, client: Client) -> None:
    actions.update_profile(user=bob, display_name="R\u00f6bert", time_zone="UTC", now=NOW)
    actions.update_profile(user=bob, display_name="Mi11y", time_zone="UTC", now=NOW)
    assert queries.NAME_ALIKE in client.post("/accounts/signup/", {**SIGN_UP, "username": "milly"}).content.decode()
    assert User.objects.get() == bob


@pytest.mark.django_db
@pytest.mark.parametrize("name", [ALIKE, "_Alice_"])
def test_a_look_alike_display_name_is_refused(alice: User, as_bob: Client, name: str) -> None:
    answer = as_bob.post("/accounts/me/", {"display_name": name, "time_zone": "UTC"})
    assert answer.status_code == 422
    assert queries.NAME_ALIKE in answer.content.decode()
    assert User.objects.get(username="bob").display_name == ""


@pytest.mark.django_db
def test_a_guest_cannot_choose_a_look_alike_or_reserved_name(alice: User) -> None:
    guest = actions.create_guest()
    actions.update_profile(user=guest, display_name="Al", time_zone="UTC", now=NOW)
    answer = logged_in(guest).post("/accounts/me/", {"display_name": ALIKE, "time_zone": "UTC"})
    assert answer.status_code == 422
    assert queries.name_clash("AI", except_for=alice) == queries.NAME_ALIKE
    for name in ("Chance", "Everyone", "Wild Draw Ten"):
        with pytest.raises(ValidationError, match="reserved"):
            actions.create_guest(name=name)


@pytest.mark.django_db
def test_staff_cannot_give_a_look_alike_name(ann: User, alice: User, bob: User) -> None:
    for username, shown in (("a1ice", ""), ("bob", ALIKE)):
        with pytest.raises(Denied, match="looks like somebody else") as refused:
            accounts.rename(person_id=bob.pk, by=ann, reason=REASON, now=NOW, username=username, display_name=shown)
        assert refused.value.code == "malformed"
    with pytest.raises(Denied, match="reserved"):
        accounts.rename(person_id=bob.pk, by=ann, reason=REASON, now=NOW, username="bob", display_name="Adm1n")
    bob.refresh_from_db()
    assert (bob.username, bob.display_name) == ("bob", "")


@pytest.mark.django_db
def test_commands_refuse_look_alike_names(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "correct horse 9 battery")
    with pytest.raises(CommandError, match="looks like somebody else"):
        call_command("createsuperuser", interactive=False, username="a1ice", email="a@example.org", verbosity=0)
    with pytest.raises(CommandError, match="Use 2-30 letters"):
        call_command("createsuperuser", interactive=False, username="me@home", email="a@example.org", verbosity=0)
    with pytest.raises(CommandError, match="looks like somebody else"):
        call_command("create_token", "a1ice", "--create", stdout=StringIO())
    with pytest.raises(CommandError, match="reserved"):
        call_command("create_token", "admin", "--create", stdout=StringIO())
    assert User.objects.get() == alice


@pytest.mark.django_db
def test_a_superuser_may_be_called_admin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "correct horse 9 battery")
    call_command("createsuperuser", interactive=False, username="admin", email="a@example.org", verbosity=0)
    assert held() == {("admin", "adrnln")}


@pytest.mark.django_db
def test_the_database_stores_a_skeleton_for_one_person_only(alice: User, bob: User) -> None:
    bob.display_name = ALIKE
    with pytest.raises(IntegrityError):
        bob.save(update_fields=["display_name"])


def called(user: User, name: str) -> None:
    actions.update_profile(user=user, display_name=name, time_zone="UTC", now=NOW)


@pytest.mark.django_db
def test_a_name_that_its_owner_gives_up_is_free_at_once(alice: User, bob: User, charlie: User) -> None:
    called(alice, "Wonder")
    with pytest.raises(actions.NameTaken, match="looks like somebody else"):
        called(bob, "W0nder")
    called(alice, "Alice W")
    called(bob, "W0nder")
    called(bob, "")
    called(charlie, "Wonder")
    assert not NameSkeleton.objects.exclude(freed_at=None).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("act", ["mute", "replace_username", "rename"])
def test_a_name_that_staff_take_away_is_held_for_90_days(alice: User, bob: User, ann: User, act: str) -> None:
    called(alice, "Wonder")
    if act == "mute":
        people.mute(person_id=alice.pk, by=ann, days=1, reason=REASON, now=NOW)
    elif act == "replace_username":
        people.replace_username(person_id=alice.pk, by=ann, reason=REASON, now=NOW)
    else:
        accounts.rename(person_id=alice.pk, by=ann, username="lisa", display_name="", reason=REASON, now=NOW)
        assert queries.name_clash("a1ice", except_for=bob) == queries.name_freed()
    for name in ("Wonder", "W0nder"):
        with pytest.raises(actions.NameTaken, match="until recently"):
            called(bob, name)
    bob.display_name = "Wonder"
    with pytest.raises(IntegrityError), transaction.atomic():
        bob.save(update_fields=["display_name"])
    actions.free_held_names(now=NOW + timedelta(days=89))
    assert queries.name_clash("wonder", except_for=User()) == queries.name_freed()
    actions.free_held_names(now=NOW + timedelta(days=91))
    called(bob, "Wonder")


@pytest.mark.django_db
def test_the_owner_of_a_name_that_staff_took_away_can_take_it_back(alice: User, bob: User, ann: User) -> None:
    called(alice, "Wonder")
    accounts.rename(person_id=alice.pk, by=ann, username="alice", display_name="", reason=REASON, now=NOW)
    called(alice, "W0nder")
    assert not NameSkeleton.objects.exclude(freed_at=None).exists()
    with pytest.raises(actions.NameTaken, match="looks like somebody else"):
        called(bob, "Wonder")


@pytest.mark.django_db
def test_the_names_of_a_deleted_guest_are_held_without_its_owner(bob: User) -> None:
    guest = actions.create_guest(name="Wonder")
    User.objects.filter(pk=guest.pk).update(date_joined=timezone.now() - timedelta(days=31))
    assert forget_guests(now=timezone.now()) == 1
    held_rows = NameSkeleton.objects.exclude(freed_at=None)
    assert not held_rows.filter(skeleton__in=["wonder", *name_skeletons(guest.username)]).exists()
    actions.free_held_names(now=timezone.now() + timedelta(days=89))
    with pytest.raises(actions.NameTaken, match="until recently"):
        called(bob, "W0nder")
    actions.free_held_names(now=timezone.now() + timedelta(days=91))
    called(bob, "Wonder")
    assert not held_rows.exists()


@pytest.mark.django_db
def test_two_guests_who_were_given_the_same_name_can_be_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "guest_display_name", lambda: "Brave Otter 12")
    for _ in range(2):
        guest = actions.create_guest()
        assert guest.name == "Brave Otter 12"
        User.objects.filter(pk=guest.pk).update(date_joined=timezone.now() - timedelta(days=31))
        assert forget_guests(now=timezone.now()) == 1


@pytest.mark.django_db
def test_a_guest_who_signs_up_can_keep_the_name(client: Client) -> None:
    guest = actions.create_guest()
    actions.update_profile(user=guest, display_name="Milly", time_zone="UTC", now=NOW)
    assert logged_in(guest).post("/accounts/signup/", {**SIGN_UP, "username": "mi11y"}).status_code == 302
    assert held() == {("mi11y", "rnllly")}


@pytest.mark.django_db
def test_saving_other_fields_does_not_check_names(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        alice.save(update_fields=["time_zone"])


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["Admin.", "\u0430lice", "Staff \u2714", ALIKE])
def test_an_older_name_is_kept_when_other_fields_change(alice: User, bob: User, name: str) -> None:
    renamed(bob, display_name=name)
    browser = logged_in(bob)
    answer = browser.post("/accounts/me/", {"display_name": name, "time_zone": "Asia/Tokyo"})
    assert answer.status_code == 302
    bob.refresh_from_db()
    assert (bob.display_name, bob.time_zone) == (name, "Asia/Tokyo")
    bob.save()  # all columns, the names too
    assert browser.post("/accounts/me/", {"display_name": f"{name}.", "time_zone": "UTC"}).status_code == 422


@pytest.mark.long
@pytest.mark.django_db
def test_a_bot_does_not_get_the_name_of_a_player_at_the_table(alice: User) -> None:
    renamed(alice, display_name="Ada.")
    for _ in range(20):
        table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=6, bots=4), now=NOW)
        lobby.add_bot(code=table.game.code, viewer=Viewer(alice), bot="careful", now=NOW)
        assert not Seat.objects.filter(game=table.game, name="Ada").exists()


@pytest.mark.django_db(transaction=True)
def test_one_of_two_simultaneous_look_alikes_gets_the_name() -> None:
    takers = [person("bob"), person("charlie")]
    for name, other in (("Milly", "Mi11y"), ("Ola", "0la"), ("Ulf", "UIf")):
        said = at_once([partial(taken, user, look) for user, look in zip(takers, (name, other), strict=True)])
        assert sorted(said) == ["NameTaken", "ok"]


def taken(user: User, name: str, wait: Callable[[], object]) -> str:
    wait()
    try:
        actions.update_profile(user=user, display_name=name, time_zone="UTC", now=NOW)
    except (actions.NameTaken, ValidationError) as refused:
        return type(refused).__name__
    return "ok"
