"""Creating and changing people, guests and API tokens."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from accounts import actions, names
from accounts.models import ApiToken, User
from accounts.names import clean_display_name, validate_display_name

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_a_guest_has_a_friendly_name_and_no_password(db: None) -> None:
    guest = actions.create_guest()
    assert guest.is_guest
    assert not guest.has_usable_password()
    assert len(guest.name.split()) == 3
    assert guest.username.startswith("guest-")


def test_two_guests_never_have_the_same_or_a_similar_name(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = iter(["Quiet Otter 27", "quiet otter 27", "Quiet 0tter 27", "Brave Wren 12"])
    monkeypatch.setattr(actions, "guest_display_name", lambda: next(offered))
    assert [actions.create_guest().name for _ in range(2)] == ["Quiet Otter 27", "Brave Wren 12"]


def test_a_guest_is_created_even_if_all_friendly_names_are_taken(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "guest_display_name", lambda: "Quiet Otter 27")
    first, second = actions.create_guest(), actions.create_guest()

    assert first.name == "Quiet Otter 27"
    assert second.name == second.username


@pytest.mark.long
def test_all_friendly_names_are_allowed() -> None:
    for adjective in names.GUEST_ADJECTIVES:
        for animal in names.GUEST_ANIMALS:
            validate_display_name(f"{adjective} {animal} 99")
            assert len(f"{adjective} {animal} 99") <= names.DISPLAY_NAME_LENGTH


def test_a_name_at_the_table_and_a_time_zone_can_be_chosen(alice: User) -> None:
    actions.update_profile(user=alice, display_name="  Alice  in Wonderland ", time_zone="Europe/Helsinki", now=NOW)
    alice.refresh_from_db()
    assert (alice.name, alice.time_zone) == ("Alice in Wonderland", "Europe/Helsinki")


def test_a_mute_is_not_undone_by_a_form_sent_before_it(alice: User) -> None:
    actions.update_profile(user=alice, display_name="Alice", time_zone="UTC", now=NOW)
    User.objects.filter(pk=alice.pk).update(display_name="", muted_until=NOW + timedelta(days=1))
    with pytest.raises(actions.Muted):
        actions.update_profile(user=alice, display_name="Alice", time_zone="UTC", now=NOW)
    assert User.objects.get(pk=alice.pk).display_name == ""


@pytest.mark.parametrize("name", ["bob", "BOB", "Robert"])
def test_a_taken_name_is_refused(alice: User, bob: User, name: str) -> None:
    actions.update_profile(user=bob, display_name="Robert", time_zone="UTC", now=NOW)
    with pytest.raises(actions.NameTaken):
        actions.update_profile(user=alice, display_name=name, time_zone="UTC", now=NOW)
    alice.refresh_from_db()
    assert alice.name == "alice"


@pytest.mark.parametrize("name", ["A\u202eb", "Moderator", "x" * 31])
def test_a_name_that_is_not_allowed_is_refused(alice: User, name: str) -> None:
    with pytest.raises(ValidationError):
        actions.update_profile(user=alice, display_name=name, time_zone="UTC", now=NOW)


def test_line_breaks_are_removed_from_a_name() -> None:
    assert clean_display_name("Bob\r\nBcc: all") == "Bob Bcc: all"


def test_a_time_zone_that_does_not_exist_is_refused(alice: User) -> None:
    with pytest.raises(ValidationError):
        actions.update_profile(user=alice, display_name="", time_zone="Mars/Olympus", now=NOW)


def test_a_token_leads_to_its_owner_and_is_stored_hashed(alice: User) -> None:
    token = actions.create_token(user=alice, name="my bot", now=NOW)
    assert owner_of(token, NOW) == alice
    assert token not in str(ApiToken.objects.values())


def test_other_text_is_not_a_token(alice: User) -> None:
    actions.create_token(user=alice, name="my bot", now=NOW)
    for token in ("", "nomercy_wrong", "x" * 10_000, "\ud800", "tökén"):
        assert actions.use_token(token=token, now=NOW) is None, ascii(token)


def test_the_token_of_an_inactive_user_does_not_work(alice: User) -> None:
    token = actions.create_token(user=alice, name="my bot", now=NOW)
    User.objects.update(is_active=False)
    assert actions.use_token(token=token, now=NOW) is None


def test_only_the_owner_can_revoke_a_token(alice: User, bob: User) -> None:
    token = actions.create_token(user=alice, name="my bot", now=NOW)
    number = ApiToken.objects.get().pk
    assert not actions.revoke_token(user=bob, token_id=number)
    assert owner_of(token, NOW) == alice
    assert actions.revoke_token(user=alice, token_id=number)
    assert actions.use_token(token=token, now=NOW) is None


def test_the_last_use_of_a_token_is_stored_at_most_every_ten_minutes(alice: User) -> None:
    token = actions.create_token(user=alice, name="my bot", now=NOW)
    for minutes, noted in [(0, 0), (9, 0), (10, 10)]:
        assert owner_of(token, NOW + timedelta(minutes=minutes)) == alice
        assert ApiToken.objects.get().last_used_at == NOW + timedelta(minutes=noted)
    assert actions.use_token(token="wrong", now=NOW) is None


def test_an_expired_token_does_not_work(alice: User) -> None:
    token = actions.create_token(user=alice, name="my bot", now=NOW, days=30)
    assert owner_of(token, NOW + timedelta(days=30, seconds=-1)) == alice
    assert owner_of(token, NOW + timedelta(days=30)) is None


def test_create_token_takes_a_scope_and_a_time(alice: User) -> None:
    create_token("alice", "--only-read", "--days", "7")
    made = ApiToken.objects.get()
    assert (made.scope, made.expires_at) == (ApiToken.Scope.READ, made.created_at + timedelta(days=7))
    with pytest.raises(CommandError, match="a number from 1 to"):
        create_token("alice", "--days", "0")


def test_create_token_prints_the_token_last(alice: User) -> None:
    assert owner_of(create_token("Alice").split()[-1], NOW) == alice


def test_create_token_creates_a_person_only_with_create(db: None) -> None:
    with pytest.raises(CommandError, match=r"There is no user tess\. Use --create"):
        create_token("tess")
    user = owner_of(create_token("tess", "--create").split()[-1], NOW)
    assert user is not None
    assert user.username == "tess"
    assert not user.has_usable_password()


def test_create_token_makes_accounts_of_programs(alice: User) -> None:
    create_token("robo", "--create", "--program")
    assert User.objects.get(username="robo").is_program
    with pytest.raises(CommandError, match="There is a user alice"):
        create_token("alice", "--create", "--program")


def test_create_token_refuses_a_bad_username(db: None) -> None:
    with pytest.raises(CommandError):
        create_token("not a name", "--create")
    assert not User.objects.exists()


def test_create_token_refuses_a_taken_display_name(bob: User) -> None:
    actions.update_profile(user=bob, display_name="Robert", time_zone="UTC", now=NOW)
    with pytest.raises(CommandError, match="Somebody else goes by this name"):
        create_token("robert", "--create")
    assert User.objects.get() == bob


def owner_of(token: str, now: datetime) -> User | None:
    row = actions.use_token(token=token, now=now)
    return None if row is None else row.user


def create_token(*arguments: str) -> str:
    printed = StringIO()
    call_command("create_token", *arguments, stdout=printed)
    return printed.getvalue()
