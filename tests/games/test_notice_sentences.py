"""Test what notices say: with the names of today, of people who are gone, and of sentences that are unknown."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import User
from accounts.names import deleted_name
from games.actions.names import erase_old_name
from games.models import Case, Notice
from games.notices import player_notices, preferences, sentences
from games.notices.kinds import KINDS, OUTCOME_CHANGED, REPORT_SETTLED, ROLE_CHANGED
from games.notices.player_notices import NewNotice
from games.queries import Table
from games.staff import tables
from games.staff.roles import ROLES
from mail import outbox
from mail.models import TEXT_LENGTH
from tests.conftest import person
from tests.support.clocks import move
from tests.support.notices import texts_of
from tests.support.pages import text_of
from tests.support.staff import act, dealt
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db

__all__ = ["dealt"]


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


def tell(table: Table, reader: User, said: str, kind: str = "game_over", **facts: Any) -> None:
    player_notices.write(table.game, [NewNotice(reader.pk, kind, said, facts)], now=NOON)


def rename(person: User, name: str) -> None:
    person.display_name = name
    erase_old_name(person)
    person.save()


def test_a_new_name_is_on_the_page_in_a_waiting_mail_and_in_the_summary(
    table: Table, alice: User, bob: User, as_alice: Client
) -> None:
    tell(table, alice, "game_won", player=sentences.people(bob.pk))
    preferences.choose(user=alice, choices={}, digest_hour=13, now=NOON)
    rename(bob, "Robert")
    outbox.deliver(clock=lambda: NOON)
    assert [message.subject for message in mail.outbox] == ["No Mercy with Robert: Robert wins the game."]
    rename(bob, "Bobby")
    assert "Bobby wins the game." in text_of(as_alice.get("/notices/"))
    preferences.write_digests(now=NOON + timedelta(hours=1))
    outbox.deliver(clock=lambda: NOON + timedelta(hours=1))
    assert "- Bobby wins the game." in str(mail.outbox[-1].body)


def test_an_event_names_people_as_today_and_calls_the_reader_you(table: Table, alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3"]], "turn": 1, "exposed": [0]}
    caught = table_at(position, [alice, bob])
    move(caught, bob, "catch 0")
    rename(bob, "Robert")
    assert texts_of(Notice.objects.filter(kind="caught")) == ["Robert catches you not calling UNO."]


def test_somebody_whose_account_is_deleted_has_no_name(table: Table, alice: User, bob: User, as_alice: Client) -> None:
    tell(table, alice, "game_won", player=sentences.people(bob.pk))
    outbox.deliver(clock=lambda: NOON)
    number = bob.pk
    bob.delete()
    assert f"{deleted_name(number)} wins the game." in text_of(as_alice.get("/notices/"))


def test_a_bot_in_the_place_of_a_removed_person_is_the_person(
    dealt: Table, ann: User, alice: User, bob: User, charlie: User
) -> None:
    def who() -> list[int | str]:
        table = now_of(dealt)
        return sentences.who_sits(table.game, table.seats)

    tables.remove(**act(dealt, ann, seat=1, bot=True))
    assert who() == [alice.pk, bob.pk, charlie.pk]
    dora = person("dora")
    tables.move_seat(**act(dealt, ann, seat=1, username="dora"))
    assert who() == [alice.pk, dora.pk, charlie.pk]
    dora.delete()
    assert who() == [alice.pk, "dora", charlie.pk]  # the deletion of an account replaces this name


NO_EVENT = {"people": [], "reader": 0, "bot": False}


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("of_tomorrow", {}),
        ("game_won of_tomorrow", {"player": "Bob"}),
        ("game_won", {}),
        ("game_won", {"player": {"team": 7}}),
        ("event", {"event": NO_EVENT | {"event": {"kind": "of_tomorrow", "seat": 0}}}),
        ("event", {"event": NO_EVENT | {"event": {"kind": "won", "since": 3, "seat": 0}}}),
    ],
    ids=["sentence", "one of two", "facts", "fact", "event", "field of an event"],
)
def test_a_notice_of_a_later_release_is_shown_by_its_title(
    table: Table, alice: User, as_alice: Client, said: str, facts: dict[str, Any]
) -> None:
    tell(table, alice, said, **facts)
    outbox.deliver(clock=lambda: NOON)
    assert f"{KINDS['game_over'].title} new" in text_of(as_alice.get("/notices/"))
    assert [message.subject for message in mail.outbox] == [f"No Mercy with bob: {KINDS['game_over'].title}"]


@pytest.mark.parametrize("name", ["{player}", "{0.__class__}", "%s %(name)s", "محمد 7", "a\u2028b", "{", "<b>"])
def test_a_name_is_said_letter_by_letter(table: Table, alice: User, name: str) -> None:
    tell(table, alice, "game_won", player=sentences.people(name))
    assert set(texts_of(Notice.objects.all())) == {f"{name} wins the game."}


def test_many_long_names_are_cut_off(table: Table, alice: User) -> None:
    tell(table, alice, "looked", others=sentences.people(*["N" * 150] * 9))
    assert {len(text) for text in texts_of(Notice.objects.all())} == {TEXT_LENGTH}


def test_a_notice_of_release_0_1_shows_its_text(table: Table, alice: User, bob: User, as_alice: Client) -> None:
    tell(table, alice, "")
    Notice.objects.update(text="bob has won, says bobby.")
    outbox.deliver(clock=lambda: NOON)
    assert "bob has won, says bobby." in text_of(as_alice.get("/notices/"))
    rename(bob, "Robert")
    assert "Robert has won, says bobby." in text_of(as_alice.get("/notices/"))


def test_each_outcome_and_role_has_its_sentence() -> None:
    for kind in (REPORT_SETTLED, OUTCOME_CHANGED):
        assert set(Case.Outcome.values) <= set(KINDS[kind].sentences)
    assert set(KINDS[ROLE_CHANGED].sentences) == {*ROLES, "none"}


def test_names_of_sentences_fit_into_their_column() -> None:
    names = [name for kind in KINDS.values() for name in kind.sentences]
    assert all(name.isidentifier() and name != sentences.EVENT for name in names)
