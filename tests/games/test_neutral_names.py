"""Test the names that staff put in place of usernames: where they are shown, who is told, and how they end."""

from __future__ import annotations

import pytest
from django.core import mail
from django.core.exceptions import ValidationError
from django.test import Client

from accounts import actions as accounts
from accounts.models import User
from accounts.names import is_reserved, validate_display_name
from games import queries
from games.models import AuditEntry, Notice, Seat
from games.notices import outbox
from games.queries import Table, conduct
from games.staff import people, tables
from games.staff.accounts import rename
from tests.conftest import api_token, logged_in, person
from tests.support.codes import staff_browser
from tests.support.pages import text_of
from tests.support.staff import REASON, act, confirm, dealt, refused
from tests.support.tables import NOON, now_of

__all__ = ["dealt"]  # the fixture


def replaced(who: User, by: User) -> User:
    """Replace the username of this person, and return the person as stored now."""
    people.replace_username(person_id=who.pk, by=by, reason=REASON, now=NOON)
    return User.objects.get(pk=who.pk)


def test_pages_and_the_api_show_the_neutral_name(
    dealt: Table, bob: User, alice: User, mo: User, client: Client
) -> None:
    name = replaced(bob, mo).name
    assert name.startswith("Player ")
    page = logged_in(alice).get(f"/games/{dealt.game.code}/log/").content.decode()
    assert name in page
    assert "bob" not in page.replace("/people/bob/", "")
    headers = {"authorization": f"Bearer {api_token(alice)}"}
    seats = client.get(f"/api/v1/games/{dealt.game.code}", headers=headers).json()["seats"]
    assert [seat["name"] for seat in seats] == ["alice", name, "charlie"]
    profile = client.get("/people/bob/").content.decode()
    assert f"{name}</" in profile


def test_a_seat_that_a_bot_took_shows_the_neutral_name(dealt: Table, bob: User, ann: User) -> None:
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    name = replaced(bob, ann).name
    assert now_of(dealt).names[1] == name
    people.restore_username(person_id=bob.pk, by=ann, reason=REASON, now=NOON)
    assert now_of(dealt).names[1] == "bob"


@pytest.mark.parametrize("how", ["bot", "given"])
def test_open_pages_and_notices_of_the_others_lose_the_name_of_a_removed_person(
    dealt: Table, bob: User, charlie: User, ann: User, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "bot":
        tables.remove(**act(dealt, ann, seat=1, bot=True))
    else:
        person("bobby")
        tables.move_seat(**act(dealt, ann, seat=1, username="bobby"))
    tables.remove(**act(dealt, ann, seat=2, bot=True))
    told = Notice.objects.filter(user=charlie, kind="seat_moved")
    others = "alice and bob" if how == "bot" else "alice and bobby"
    assert {row.text for row in told} == {f"Staff removed you and gave your seat to a bot, in the game with {others}."}
    announced: list[str] = []
    monkeypatch.setattr("games.announce.after_commit", lambda game, wake: announced.append(game.code))
    name = replaced(bob, ann).name
    assert announced == [dealt.game.code]
    others = others.replace("bob", name) if how == "bot" else others  # a longer name is another one
    assert {row.text for row in told.all()} == {
        f"Staff removed you and gave your seat to a bot, in the game with {others}."
    }


def test_moves_of_a_former_owner_show_the_neutral_name(dealt: Table, bob: User, ann: User) -> None:
    person("dora")
    tables.move_seat(**act(dealt, ann, seat=1, username="dora"))
    name = replaced(bob, ann).name
    assert {line.former[1] for line in queries.log_of(now_of(dealt), None)} == {name}


def test_mails_show_the_neutral_name(dealt: Table, bob: User, ann: User) -> None:
    person("dora")
    name = replaced(bob, ann).name
    tables.move_seat(**act(dealt, ann, seat=0, username="dora"))
    outbox.deliver(clock=lambda: NOON)
    sent = [letter for letter in mail.outbox if "alice" in letter.to[0]]
    assert len(sent) == 1
    assert name in f"{sent[0].subject} {sent[0].body}"
    assert "bob" not in f"{sent[0].subject} {sent[0].body}"


def test_the_person_is_told_by_bell_and_mail_and_can_choose_a_name(bob: User, mo: User) -> None:
    User.objects.filter(pk=bob.pk).update(display_name="Rude")
    name = replaced(bob, mo).name
    outbox.deliver(clock=lambda: NOON)
    [letter] = mail.outbox
    assert name in letter.body
    assert REASON in letter.body
    assert Notice.objects.get(user=bob, channel="site", kind="name_changed").state == "sent"
    browser = logged_in(bob)
    assert name in browser.get("/accounts/me/").content.decode()
    browser.post("/accounts/me/", {"display_name": "Robert", "time_zone": "UTC"})
    assert User.objects.get(pk=bob.pk).name == "Robert"
    people.mute(person_id=bob.pk, by=mo, days=7, reason=REASON, now=NOON)
    assert User.objects.get(pk=bob.pk).name == name


def test_log_in_stays_by_the_username(bob: User, mo: User, client: Client) -> None:
    name = replaced(bob, mo).name
    bob.set_password("a long pass phrase")
    bob.save(update_fields=["password"])
    assert client.login(username="bob", password="a long pass phrase")
    assert not Client().login(username=name, password="a long pass phrase")


def test_restoring_the_username_is_told_and_audited(bob: User, mo: User) -> None:
    name = replaced(bob, mo).name
    people.restore_username(person_id=bob.pk, by=mo, reason=REASON, now=NOON)
    assert User.objects.get(pk=bob.pk).name == "bob"
    acts = [
        (entry.act, entry.person_name, conduct.details_with_names(entry)) for entry in AuditEntry.objects.order_by("pk")
    ]
    assert acts == [("neutral_name", "bob", {"name": name}), ("end_neutral_name", name, {"name": name})]
    assert Notice.objects.filter(user=bob, kind="name_changed", channel="email").count() == 2


def test_a_username_is_replaced_and_restored_once(bob: User, mo: User) -> None:
    arguments = {"person_id": bob.pk, "by": mo, "reason": REASON, "now": NOON}
    refused("forbidden", people.restore_username, **arguments)
    replaced(bob, mo)
    refused("forbidden", people.replace_username, **arguments)
    refused("malformed", people.restore_username, **{**arguments, "reason": ""})


def test_a_corrected_username_ends_the_neutral_name(bob: User, ann: User) -> None:
    replaced(bob, ann)
    rename(person_id=bob.pk, by=ann, username="robert", display_name="", reason=REASON, now=NOON)
    assert User.objects.get(pk=bob.pk).name == "robert"


def test_neutral_names_differ(alice: User, bob: User, mo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter(["Player 10001", "Player 10001", "Player 1000l", "Player 10002"])
    monkeypatch.setattr(accounts, "random_neutral_name", lambda: next(names))
    assert [replaced(who, mo).name for who in (alice, bob)] == ["Player 10001", "Player 10002"]


@pytest.mark.parametrize(
    "name",
    ["Player 48213", "player48213", "Player-4821", "PIayer 48213", "P1ayer 4O2l3", "\u0420layer 48213", "Player 5"],
)
def test_nobody_chooses_a_name_that_looks_neutral(name: str) -> None:
    assert is_reserved(name)
    with pytest.raises(ValidationError):
        validate_display_name(name)


@pytest.mark.parametrize("name", ["Player", "Player One", "Players 5", "Top Player 99", "Cosplayer 12"])
def test_other_names_with_the_word_are_free(name: str) -> None:
    assert not is_reserved(name)


@pytest.mark.long
def test_a_moderator_replaces_a_username_on_the_person_s_page(dealt: Table, bob: User, mo: User) -> None:
    browser, page = staff_browser(mo), f"/admin/accounts/user/{bob.pk}/"
    assert "Replace the username" in browser.get(f"{page}change/").content.decode()
    browser.post(f"{page}act/neutral_name/", {"reason": REASON})
    name = User.objects.get(pk=bob.pk).name
    body = browser.get(f"{page}change/").content.decode()
    assert name in body
    assert "Restore the username" in body
    assert dealt.game.code in browser.get(f"/admin/games/game/?q={name}").content.decode()
    confirm(browser, f"{page}act/end_neutral_name/", {"reason": REASON})
    assert Seat.objects.get(game=dealt.game, index=1).name == "bob"


def test_the_page_of_the_game_shows_the_neutral_name(dealt: Table, alice: User, bob: User, mo: User) -> None:
    browser, address = logged_in(alice), f"/games/{dealt.game.code}/"
    assert " bob " in text_of(browser.get(address))
    name = replaced(bob, mo).name
    here = text_of(browser.get(address))
    assert name in here
    assert " bob " not in here
