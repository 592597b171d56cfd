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
from games.actions.names import raise_revisions
from games.models import AuditEntry, Notice, Seat
from games.queries import Table, conduct
from games.staff import people, tables
from games.staff.accounts import rename
from mail import outbox
from tests.conftest import logged_in, person
from tests.support.api import Program
from tests.support.codes import staff_browser
from tests.support.notices import texts_of
from tests.support.pages import text_of
from tests.support.staff import REASON, act, confirm, dealt, refused
from tests.support.tables import NOON, now_of

__all__ = ["dealt"]  # the fixture


def replaced(who: User, by: User) -> User:
    """Replace the username of this person, and return the person as stored now."""
    people.replace_username(person_id=who.pk, by=by, reason=REASON, now=NOON)
    return User.objects.get(pk=who.pk)


def test_pages_and_the_api_show_the_neutral_name(
    dealt: Table, bob: User, alice: User, as_alice: Client, mo: User, client: Client
) -> None:
    game = dealt.game.get_absolute_url()
    assert " bob " in text_of(as_alice.get(game))
    name = replaced(bob, mo).name
    assert name.startswith("Player ")
    for address in (game, f"{game}log/"):
        text = text_of(as_alice.get(address))
        assert (name in text, "bob" in text) == (True, False)
    seats = Program(alice).get(f"games/{dealt.game.code}").json()["seats"]
    assert [seat["name"] for seat in seats] == ["alice", name, "charlie"]
    assert f"{name}</" in client.get("/people/bob/").content.decode()


def test_a_seat_that_a_bot_took_and_moves_of_a_former_owner_show_the_neutral_name(
    dealt: Table, alice: User, bob: User, ann: User
) -> None:
    person("dora")
    tables.move_seat(**act(dealt, ann, seat=0, username="dora"))
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    former, owner = replaced(alice, ann).name, replaced(bob, ann).name
    assert {line.former[0] for line in queries.log_of(now_of(dealt), None)} == {former}
    assert now_of(dealt).names[1] == owner
    people.restore_username(person_id=bob.pk, by=ann, reason=REASON, now=NOON)
    assert now_of(dealt).names[1] == "bob"


@pytest.mark.parametrize("new_owner", ["", "bobby"])
def test_open_pages_and_notices_of_the_others_lose_the_name_of_a_removed_person(
    dealt: Table, bob: User, charlie: User, ann: User, new_owner: str
) -> None:
    def told() -> set[str]:
        return set(texts_of(Notice.objects.filter(user=charlie, kind="seat_moved")))

    sentence = "Staff removed you and gave your seat to a bot, at the table with alice and {}."
    if new_owner:
        person(new_owner)
        tables.move_seat(**act(dealt, ann, seat=1, username=new_owner))
    else:
        tables.remove(**act(dealt, ann, seat=1, bot=True))
    tables.remove(**act(dealt, ann, seat=2, bot=True))
    assert told() == {sentence.format(new_owner or "bob")}
    before = now_of(dealt).game.revision
    name = replaced(bob, ann).name
    assert raise_revisions(user_id=bob.pk, only_running=False) == 1
    assert now_of(dealt).game.revision == before + 1
    assert told() == {sentence.format(new_owner or name)}  # a longer name is another one


def test_mails_show_the_neutral_name(dealt: Table, bob: User, ann: User) -> None:
    person("dora")
    name = replaced(bob, ann).name
    tables.move_seat(**act(dealt, ann, seat=0, username="dora"))
    outbox.deliver(clock=lambda: NOON)
    (sent,) = [f"{letter.subject} {letter.body}" for letter in mail.outbox if "alice" in letter.to[0]]
    assert (name in sent, "bob" in sent) == (True, False)


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


def test_log_in_stays_by_the_username(bob: User, mo: User) -> None:
    name = replaced(bob, mo).name
    worked = [Client().login(username=username, password="bob") for username in ("bob", name)]
    assert worked == [True, False]


def test_restoring_the_username_is_told_and_audited(bob: User, mo: User) -> None:
    name = replaced(bob, mo).name
    people.restore_username(person_id=bob.pk, by=mo, reason=REASON, now=NOON)
    assert User.objects.get(pk=bob.pk).name == "bob"
    acts = [
        (entry.act, entry.person_name, conduct.details_with_names(entry)) for entry in AuditEntry.objects.order_by("pk")
    ]
    assert acts == [("neutral_name", "bob", {"name": name}), ("end_neutral_name", name, {"name": name})]
    assert Notice.objects.filter(user=bob, kind="name_changed", channel="email").count() == 2


def test_a_username_is_replaced_and_restored_once_until_it_is_corrected(bob: User, ann: User) -> None:
    arguments = {"person_id": bob.pk, "by": ann, "reason": REASON, "now": NOON}
    refused("forbidden", people.restore_username, **arguments)
    replaced(bob, ann)
    refused("forbidden", people.replace_username, **arguments)
    refused("malformed", people.restore_username, **{**arguments, "reason": ""})
    rename(person_id=bob.pk, by=ann, username="robert", display_name="", reason=REASON, now=NOON)
    assert User.objects.get(pk=bob.pk).name == "robert"


def test_neutral_names_differ(alice: User, bob: User, mo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    names = iter(["Player 10001", "Player 10001", "Player 1000l", "Player 10002"])
    monkeypatch.setattr(accounts, "random_neutral_name", lambda: next(names))
    assert [replaced(who, mo).name for who in (alice, bob)] == ["Player 10001", "Player 10002"]


def test_nobody_chooses_a_name_that_looks_neutral() -> None:
    for name in (
        *("Player 48213", "player48213", "Player-4821", "PIayer 48213", "P1ayer 4O2l3", "\u0420layer 48213"),
        "Player 5",
    ):
        assert is_reserved(name), name
        with pytest.raises(ValidationError):
            validate_display_name(name)
    for name in ("Player", "Player One", "Players 5", "Top Player 99", "Cosplayer 12"):
        assert not is_reserved(name), name


@pytest.mark.long
def test_a_moderator_replaces_a_username_on_the_person_s_page(dealt: Table, bob: User, mo: User) -> None:
    browser, page = staff_browser(mo), f"/admin/accounts/user/{bob.pk}/"
    assert "Replace the username" in text_of(browser.get(f"{page}change/"))
    browser.post(f"{page}act/neutral_name/", {"reason": REASON})
    name = User.objects.get(pk=bob.pk).name
    text = text_of(browser.get(f"{page}change/"))
    assert (name in text, "Restore the username" in text) == (True, True)
    assert dealt.game.code in text_of(browser.get(f"/admin/games/game/?q={name}"))
    confirm(browser, f"{page}act/end_neutral_name/", {"reason": REASON})
    assert Seat.objects.get(game=dealt.game, index=1).name == "bob"
