"""Test mails about accounts over real SMTP. They get the same care as notices."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.mail.backends.smtp import EmailBackend
from django.utils import timezone

from accounts import due_mails, mails
from accounts.models import AccountMail, User
from games.models import Notice, NoticeSettings
from games.notices import player_notices, source
from mail import claims, outbox
from tests.conftest import person
from tests.support.mail import MailServer
from tests.support.notices import won
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = [pytest.mark.django_db, pytest.mark.long]

MINUTE = timedelta(minutes=1)


class Killed(BaseException):
    """Stands for the death of the sender."""


def ask(user: User) -> None:
    mails.queue(kind=mails.RESET, address=user.email, user=None, now=NOON)


def deliver(minutes: int = 0) -> None:
    outbox.deliver(clock=lambda: NOON + minutes * MINUTE)


@pytest.mark.parametrize("about", ["an account", "a turn"])
@pytest.mark.parametrize(
    ("place", "name", "after", "sent", "state"),
    [
        (None, "SOURCE", False, 1, "sent"),
        (EmailBackend, "open", False, 1, "sent"),
        (claims, "hand_over", False, 1, "sent"),
        (EmailBackend, "send_messages", False, 0, "failed"),
        (EmailBackend, "send_messages", True, 1, "failed"),
        (claims, "settle", False, 1, "failed"),
    ],
)
def test_a_sender_that_dies_sends_no_second_mail(
    server: MailServer, alice: User, monkeypatch: pytest.MonkeyPatch,
    about: str, place: Any, name: str, after: bool, sent: int, state: str,
) -> None:  # fmt: skip
    place = place or (due_mails if about == "an account" else source)
    real = getattr(place, name)

    def dies(*args: Any, **options: Any) -> None:
        monkeypatch.setattr(place, name, real)
        if after:
            real(*args, **options)
        raise Killed

    if about == "an account":
        ask(alice)
    else:
        table = table_at(TWO_HANDS, [alice, "careful"], deadline=NOON + timedelta(days=1))
        player_notices.deal(table, now=NOON - 5 * MINUTE)
    monkeypatch.setattr(place, name, replace(real, mails=dies) if name == "SOURCE" else dies)
    with pytest.raises(Killed):
        deliver()
    for minutes in (1, 6, 60):  # in the first minute its claim is valid, so no other sender takes it
        deliver(minutes)
    assert len(server.mails) == sent
    row = AccountMail.objects.get() if about == "an account" else Notice.objects.get(channel="email")
    assert (row.state, row.reason) == (state, "unsure" if state == "failed" else row.reason)


def test_a_retried_mail_is_the_same_mail_with_a_working_link(server: MailServer, alice: User) -> None:
    answers = iter(["451 Try again later", "250 OK"])
    seen: list[bytes] = []

    def answer(envelope: Any) -> str:
        seen.append(envelope.original_content)
        return next(answers)

    server.answer = answer
    ask(alice)
    deliver()
    assert AccountMail.objects.get().tries == 1
    deliver(1)
    ids = [next(line for line in mail.splitlines() if line.startswith(b"Message-ID")) for mail in seen]
    assert ids[0] == ids[1]
    assert len(server.mails) == 1


def test_a_bad_address_is_marked_and_does_not_stop_others(server: MailServer, alice: User, bob: User) -> None:
    server.refuses[alice.email] = "550 No such user"
    ask(alice)
    ask(bob)
    deliver()
    assert [mail["To"] for mail in server.mails] == [bob.email]
    row = AccountMail.objects.get(address=alice.email)
    assert (row.state, row.reason) == ("failed", "refused")
    assert NoticeSettings.objects.get(user=alice).bounced == alice.email


def test_account_mails_are_sent_to_bounced_addresses(server: MailServer, alice: User) -> None:
    NoticeSettings.objects.create(user=alice, bounced=alice.email, bounced_at=NOON)
    ask(alice)
    deliver()
    assert [mail["To"] for mail in server.mails] == [alice.email]


def test_many_account_mails_leave_time_for_notices(server: MailServer, alice: User, bob: User) -> None:
    """Each reading of the clock costs a second, as with a slow mail server."""
    for n in range(80):
        ask(person(f"dora{n}"))
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + timedelta(days=1))
    player_notices.write(table.game, [won(alice.pk, "Bob")], now=NOON)
    seconds = itertools.count()
    outbox.deliver(clock=lambda: NOON + timedelta(seconds=next(seconds)))
    assert Notice.objects.get(channel="email").state == "sent"
    assert 0 < AccountMail.objects.filter(state="sent").count() < 20
    assert not AccountMail.objects.filter(state="sending").exists()


def test_both_kinds_of_mail_back_off_from_a_failed_server(server: MailServer, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=timezone.now() + timedelta(days=1))
    player_notices.write(table.game, [won(alice.pk, "Bob")], now=NOON)
    ask(bob)
    tried: list[int] = []
    real = EmailBackend.open

    def away(self: EmailBackend) -> None:
        tried.append(1)
        raise ConnectionRefusedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EmailBackend, "open", away)
        deliver()
        deliver()
    assert (len(tried), real) == (1, EmailBackend.open)
    deliver(1)
    assert sorted(mail["To"] for mail in server.mails) == [alice.email, bob.email]
