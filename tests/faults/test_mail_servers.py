"""Test mail servers that reply late, wrongly or not at all.

One mail must not stop others, tries must end, and an address is marked as bounced only if the refusal is about it.
"""

from __future__ import annotations

import smtplib
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from aiosmtpd.smtp import Envelope
from django.core.mail import EmailMultiAlternatives
from django.test import override_settings

from accounts.models import User
from games.models import Notice, NoticeSettings
from games.notices import notice_mails, player_notices, preferences, source
from mail import claims, outbox
from mail.channels import email
from mail.models import Outbox
from mail.smtp_replies import is_permanent
from tests.conftest import person
from tests.support.mail import MailServer
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = [pytest.mark.django_db, pytest.mark.long]

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
DUE = NOON + 5 * MINUTE


def on_turn(user: User, other: User) -> None:
    """Return a table where it is this user's turn and the notice was written at noon."""
    player_notices.deal(table_at(TWO_HANDS, [user, other], deadline=NOON + 24 * HOUR), now=NOON)


def deliver(now: datetime = DUE) -> None:
    outbox.deliver(clock=lambda: now)


def mail_of(user: User) -> Notice:
    return Notice.objects.get(user=user, channel="email")


@pytest.fixture
def two(alice: User, bob: User) -> tuple[User, User]:
    """Return two people who are to be mailed about a turn, Alice first."""
    on_turn(alice, bob)
    on_turn(bob, alice)
    return alice, bob


def test_a_mail_without_a_reply_is_retried_a_few_times_and_does_not_stop_others(
    server: MailServer, two: tuple[User, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = two
    monkeypatch.setattr(email, "SERVER_TIMEOUT", 0.2)
    server.hangs.add(alice.email)
    for minutes in range(0, 12 * 60, 15):
        deliver(DUE + minutes * MINUTE)

    assert [mail["To"] for mail in server.mails] == [bob.email]
    assert len(server.left) == claims.MOST_TRIES
    assert (mail_of(alice).state, mail_of(alice).reason) == ("failed", "gave_up")


def test_a_mail_at_which_the_server_hangs_up_does_not_stop_others(server: MailServer, two: tuple[User, User]) -> None:
    alice, bob = two
    server.hangs_up.add(alice.email)
    for minutes in range(0, 12 * 60, 15):
        deliver(DUE + minutes * MINUTE)

    assert [mail["To"] for mail in server.mails] == [bob.email]
    assert len(server.left) == claims.MOST_TRIES
    assert mail_of(alice).reason == "gave_up"


def test_a_mail_that_breaks_the_sender_is_retried_and_does_not_stop_others(
    server: MailServer,
    two: tuple[User, User],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alice, bob = two
    real = EmailMultiAlternatives.message

    def breaks(mail: EmailMultiAlternatives, **options: Any) -> Any:
        if mail.to == [alice.email]:
            raise ValueError("this mail cannot be written")
        return real(mail, **options)

    monkeypatch.setattr(EmailMultiAlternatives, "message", breaks)
    deliver()

    assert [mail["To"] for mail in server.mails] == [bob.email]
    assert (mail_of(alice).state, mail_of(alice).reason, mail_of(alice).tries) == ("waiting", "again", 1)
    assert "a mail broke its sender" in caplog.text


def test_an_address_with_a_line_break_gets_no_mail(server: MailServer, two: tuple[User, User]) -> None:
    alice, bob = two
    User.objects.filter(pk=alice.pk).update(email="alice@example.org\nBcc: eve@example.org")
    deliver()
    assert [mail["To"] for mail in server.mails] == [bob.email]
    assert (mail_of(alice).state, mail_of(alice).reason) == ("dropped", "no_address")


@pytest.mark.parametrize(("code", "counted"), [(451, 0), (530, 0), (552, 1)])
def test_a_server_that_refuses_the_site_costs_no_tries(
    server: MailServer, two: tuple[User, User], monkeypatch: pytest.MonkeyPatch, code: int, counted: int
) -> None:
    alice, _ = two
    real = smtplib.SMTP.mail

    def refuses(smtp: smtplib.SMTP, sender: str, options: Any = ()) -> tuple[int, bytes]:
        return (code, b"No") if not server.taken else real(smtp, sender, options)

    monkeypatch.setattr(smtplib.SMTP, "mail", refuses)
    deliver()
    assert (mail_of(alice).state, mail_of(alice).tries) == ("waiting", counted)
    assert Outbox.objects.filter(failures__gt=0).exists() == (not counted)


# What a refused address means


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ("550 No such user", True),
        ("551 User not local", True),
        ("553 Mailbox name not allowed", True),
        ("550 5.1.1 The account does not exist", True),
        ("550 5.1.10 No mail for this domain", True),
        ("550 5.2.1 This mailbox is disabled", True),
        ("554 5.7.1 Relay access denied", False),
        ("550 relay not permitted", False),
        ("550 Relaying denied", False),
        ("553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", False),
        ("550 5.7.1 You are on a list", False),
        ("550 5.1.8 The sender's domain does not exist", False),
        ("530 5.7.0 Authentication required", False),
        ("550 Authentication is required for 10.5.1.1", False),
        ("552 5.2.2 Mailbox full", False),
        ("554 No SMTP service here", False),
        ("450 4.1.1 Try again", False),
        ("421 Too many connections", False),
    ],
)
def test_only_a_bad_address_is_marked_as_bounced(
    server: MailServer, two: tuple[User, User], said: str, address: bool, caplog: pytest.LogCaptureFixture
) -> None:
    alice, bob = two
    server.refuses[alice.email] = said
    deliver()

    marked = NoticeSettings.objects.filter(bounced=alice.email).exists()
    assert (marked, mail_of(alice).state) == (address, "failed" if address else "waiting")
    assert mail_of(alice).tries == (0 if address else 1)
    assert mail_of(bob).state == "sent"
    logged = any(record.levelname == "ERROR" for record in caplog.records)
    assert logged == (not address and said.startswith("5"))
    code, words = said.split(" ", 1)
    assert is_permanent(int(code), words.encode()) == address


def test_a_misconfigured_relay_loses_no_mail(server: MailServer, two: tuple[User, User]) -> None:
    server.refuses = {user.email: "554 5.7.1 Relay access denied" for user in two}
    for minutes in range(0, 5 * 60, 15):
        deliver(DUE + minutes * MINUTE)
    server.refuses = {}
    deliver(DUE + 8 * HOUR)

    assert Counter(mail["To"] for mail in server.mails) == {user.email: 1 for user in two}
    assert not NoticeSettings.objects.exclude(bounced="").exists()


def test_an_address_with_a_unicode_domain_is_marked_as_its_owner_spells_it(
    server: MailServer, two: tuple[User, User]
) -> None:
    alice, _ = two
    User.objects.filter(pk=alice.pk).update(email="alice@bücher.de")
    server.refuses["alice@xn--bcher-kva.de"] = "550 5.1.1 No such user"
    deliver()

    assert NoticeSettings.objects.get(user=alice).bounced == "alice@bücher.de"
    assert (mail_of(alice).state, mail_of(alice).reason) == ("failed", "refused")
    on_turn(alice, two[1])
    deliver()
    assert Notice.objects.filter(user=alice, state="waiting", reason="bounced").exists()


def test_a_bounce_report_may_spell_a_domain_in_punycode(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(email="alice@bücher.de")
    assert preferences.mark_bounced(address="Alice@XN--bcher-kva.de", now=NOON) == 1
    assert NoticeSettings.objects.get(user=alice).bounced.casefold() == "alice@bücher.de"


# How long, and how many


def test_sending_stops_after_a_while_and_continues_next_time(server: MailServer, alice: User) -> None:
    people = [person(f"p{n:02}") for n in range(8)]
    for user in people:
        on_turn(user, alice)
    now = DUE

    def answer(envelope: Envelope) -> str:
        nonlocal now
        now += timedelta(seconds=8)  # a slow server
        return "250 OK"

    server.answer = answer
    outbox.deliver(clock=lambda: now)
    assert len(server.taken) == 3
    assert Counter(Notice.objects.filter(channel="email").values_list("state", "tries")) == {
        ("sent", 0): 3,
        ("waiting", 0): 5,
    }
    while len(server.taken) < 8:
        before = len(server.taken)
        outbox.deliver(clock=lambda: now)
        assert len(server.taken) > before
    assert [mail["To"] for mail in server.mails] == [user.email for user in people]


def test_notices_on_the_site_are_shown_before_mail_is_sent(
    server: MailServer, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "BATCH", 1)
    on_turn(alice, bob)
    on_turn(bob, alice)
    rung: list[int] = []

    def compose(rows: Any, now: datetime) -> Any:
        rung.append(Notice.objects.filter(channel="site", state="sent").count())
        return notice_mails.compose(rows, now)

    monkeypatch.setattr(source, "SOURCE", replace(source.SOURCE, mails=compose))
    deliver()
    assert rung == [2, 2]


def test_only_one_sender_retries_a_failed_server(
    server: MailServer, two: tuple[User, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "BATCH", 1)
    with override_settings(EMAIL_PORT=1):
        deliver()
    retry_at = Outbox.objects.get().retry_at
    assert retry_at is not None
    first, _ = outbox.claim(email.EMAIL, source.SOURCE, now=retry_at)
    second, _ = outbox.claim(email.EMAIL, source.SOURCE, now=retry_at)
    assert (len(first), len(second)) == (1, 0)

    deliver(retry_at + email.LONGEST_SERVER_WAIT)  # the first died at it
    assert [mail["To"] for mail in server.mails] == [two[1].email]
    deliver(retry_at + HOUR)
    assert len(server.mails) == 2


def test_an_empty_queue_does_not_wait_for_the_server(server: MailServer, alice: User, bob: User) -> None:
    Outbox.objects.create(pk=1, failures=3, retry_at=DUE)
    deliver()
    on_turn(alice, bob)
    preferences.choose(user=bob, choices={}, digest_hour=None, now=NOON)
    deliver(DUE + MINUTE)

    assert [mail["To"] for mail in server.mails] == [alice.email]
    assert Outbox.objects.get().failures == 0


def test_mails_that_cannot_be_made_do_not_count_as_server_failures(
    server: MailServer, two: tuple[User, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    Outbox.objects.create(pk=1, failures=3, retry_at=DUE)
    with monkeypatch.context() as broken:
        broken.setattr(notice_mails, "readers_of", lambda people: 1 / 0)
        deliver()
    box = Outbox.objects.get()
    assert (box.failures, box.retry_at) == (3, DUE + email.LONGEST_SERVER_WAIT)
    assert outbox.claim(email.EMAIL, source.SOURCE, now=DUE + MINUTE) == ([], 0)

    deliver(DUE + email.LONGEST_SERVER_WAIT)
    assert {mail["To"] for mail in server.mails} == {user.email for user in two}
    assert Outbox.objects.get().failures == 0
