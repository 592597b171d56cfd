"""Test which delivery reports mark an address: only those about mails that this site has sent to it."""

from __future__ import annotations

import base64
import io
import os
import time
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from accounts import mails, queries
from accounts.models import User
from games.management.commands.sendtestmail import test_mail as mail_that_tests
from games.models import NoticeSettings
from games.notices import player_notices
from mail import bounce_reports, outbox
from tests.support.mail import deliver_now
from tests.support.notices import won
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

FAILED = b"Action: failed\nStatus: 5.1.1\n"
OLD_KEY, NEW_KEY = "old-key-" * 6, "new-key-" * 6


@pytest.fixture
def sent(alice: User, bob: User) -> bytes:
    """Return a mail that the site has sent to Alice."""
    return notice_to(alice, bob)


def notice_to(person: User, other: User) -> bytes:
    table = table_at(TWO_HANDS, [person, other])
    player_notices.write(table.game, [won(person.pk, "Bob")], now=timezone.now())
    outbox.deliver(clock=timezone.now)
    return bytes(mail.outbox[-1].message().as_bytes())


def head_of(content: bytes) -> bytes:
    return content.partition(b"\n\n")[0] + b"\n"


def report_of(returned: bytes, *recipients: bytes, kind: bytes = b"message/rfc822") -> bytes:
    """Return a report like Postfix's about these recipients, each with its fields."""
    return b"\n".join(
        [
            b"From: MAILER-DAEMON@mx.example.org\nTo: no-reply@cards.example.org\nMIME-Version: 1.0",
            b'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n',
            b"--b\nContent-Type: text/plain\n\nIt did not arrive.\n",
            b"--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.org\n",
            *recipients,
            b"\n--b\nContent-Type: %s\n\n%s\n\n--b--\n" % (kind, returned),
        ]
    )


def about(address: bytes, *, name: bytes = b"Final-Recipient", rest: bytes = FAILED) -> bytes:
    return b"%s: rfc822; %s\n%s" % (name, address, rest)


def marked() -> set[str]:
    return set(NoticeSettings.objects.exclude(bounced="").values_list("bounced", flat=True))


def give(report: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a report to the command on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(report)))
    call_command("bounced", stdout=io.StringIO())


def refusal(report: bytes, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the sentences with which the command refuses a report."""
    with pytest.raises(CommandError) as caught:
        give(report, monkeypatch)
    assert caught.value.returncode == os.EX_DATAERR
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "recipient",
    [
        about(b"alice@example.org"),
        about(b"<Alice@EXAMPLE.org>"),
        about(b"alice@example.org", rest=b"Action: Failed\nStatus: 5.2.1 (disabled)\n"),
        about(b"alice@example.org", rest=b"Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550-5.1.1 Who?\n"),
        about(b"alice@example.org", rest=b"Action: failed\nStatus: 5.0.0\nDiagnostic-Code: SMTP;550 No such user\n"),
        about(b"somebody@forward.example", rest=b"Original-Recipient: rfc822;alice@example.org\n" + FAILED),
    ],
)
def test_a_report_that_returns_our_mail_marks_its_address(
    sent: bytes, recipient: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(report_of(sent, recipient), monkeypatch)
    assert marked() == {"alice@example.org"}


@pytest.mark.parametrize("encode", [bytes, lambda head: head.replace(b"Message-ID: ", b"message-id:\n\t")])
def test_a_report_may_return_only_the_headers(sent: bytes, encode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(encode(head_of(sent)), about(b"alice@example.org"), kind=b"text/rfc822-headers")
    give(report, monkeypatch)
    assert marked() == {"alice@example.org"}


def test_returned_headers_may_be_encoded(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = b"text/rfc822-headers\nContent-Transfer-Encoding: base64"
    report = report_of(base64.encodebytes(head_of(sent)), about(b"alice@example.org"), kind=kind)
    give(report, monkeypatch)


def test_an_address_with_a_unicode_domain_is_reported_in_punycode(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.email = "alice@bücher.de"
    alice.save()
    give(report_of(notice_to(alice, bob), about(b"alice@xn--bcher-kva.de")), monkeypatch)
    assert marked() == {"alice@bücher.de"}


def test_a_report_about_an_account_mail_counts(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    mails.queue(kind=mails.RESET, address=alice.email, user=None, now=timezone.now())
    (message,) = deliver_now()
    give(report_of(message.message().as_bytes(), about(b"alice@example.org")), monkeypatch)
    assert marked() == {"alice@example.org"}


@pytest.mark.long
def test_a_forged_report_marks_nobody(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    recipients = [about(b"alice@example.org"), about(b"bob@example.org")]
    assert "several addresses" in refusal(report_of(b"Subject: hello\n", *recipients), monkeypatch)
    assert "Message-ID" in refusal(report_of(b"Subject: hello\n", recipients[0]), monkeypatch)
    assert "Message-ID" in refusal(report_of(b"", recipients[0], kind=b"text/plain"), monkeypatch)
    for guessed in (b"", b"x", b"<account.1.1790000000@127.0.0.1>", b"<news.1.1.%s@127.0.0.1>" % (b"0" * 32), b"\xff"):
        refused = refusal(report_of(b"Message-ID: %s\n" % guessed, recipients[0]), monkeypatch)
        assert refused.endswith("Nothing was changed.")
    assert marked() == set()


@pytest.mark.parametrize("name", [b"Final-Recipient", b"Original-Recipient"])
def test_a_mail_to_oneself_marks_nobody_else(
    sent: bytes, alice: User, bob: User, name: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    final = b"" if name == b"Final-Recipient" else b"Final-Recipient: rfc822; bob@example.org\n"
    refused = refusal(report_of(sent, about(b"bob@example.org", name=name, rest=final + FAILED)), monkeypatch)
    assert "is not one of this site to the address" in refused
    both = report_of(sent, about(b"alice@example.org"), about(b"bob@example.org"))
    assert "several addresses" in refusal(both, monkeypatch)
    assert marked() == set()


def test_what_was_changed_in_a_message_id_makes_it_invalid(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    recipient = about(b"alice@example.org")
    for old, new in ((b"Message-ID: <news.", b"Message-ID: <digest."), (b"@127.0.0.1>", b"0@127.0.0.1>")):
        assert old in sent
        assert "is not one of this site" in refusal(report_of(sent.replace(old, new), recipient), monkeypatch)


@pytest.mark.parametrize(
    "rest",
    [
        b"Action: delayed\nStatus: 4.4.1\n",
        b"Action: failed\nStatus: 4.2.2\n",
        b"Action: failed\nStatus: 4.1.1\n",
        b"Action: failed\nStatus: 5.7.1 (policy)\n",
        b"Action: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 550 5.1.1 on a list\n",
        b"Action: failed\nStatus: 5.2.2\n",
        b"Action: failed\nStatus: 5.0.0\n",
        b"Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 Relaying denied\n",
        b"Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 552 5.2.2 Mailbox full\n",
        b"Action: failed\nStatus: 5.0.0\nDiagnostic-Code: x-unix; 550 user unknown\n",
        b"Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; \xff\n",
        b"Action: failed\n",
        b"Action: relayed\n",
        b"",
    ],
)
def test_a_failure_that_is_not_of_the_address_marks_nobody(
    sent: bytes, rest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "does not exist" in refusal(report_of(sent, about(b"alice@example.org", rest=rest)), monkeypatch)
    assert marked() == set()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"hello",
        b"\xff\xfe\x00",
        b"Content-Type: message/delivery-status\n\n",
        b"Content-Type: multipart/report\n\n",
        b'Content-Type: multipart/report; boundary="b"\n\n--b\nContent-Type: message/delivery-status\n\n--b--',
        report_of(b"", about(b"\xff\xfe@example.org")),
        report_of(b"\xff\xfe: \x00", about(b"")),
        report_of(b"", about(b"a@" + b"x" * 60_000)),
    ],
)
def test_a_mail_that_is_not_a_report_changes_nothing(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(text, monkeypatch).endswith("Nothing was changed.")


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        b"Content-Type: message/rfc822\n\n" * 100_000,
        b"Content-Type: message/rfc822\n\n" * 49 + b"\n" * 250_000,
        b'Content-Type: multipart/mixed; boundary="b"\n\n--b\n' * 49 + b"--b\n" * 60_000,
        b"Content-Type: multipart/report; " + b'";' * 120_000,
        b"x" * 10_000_000,
    ],
)
def test_a_hostile_text_is_refused_soon(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time.process_time()
    assert refusal(text, monkeypatch).endswith("Nothing was changed.")
    assert time.process_time() - begun < 20
    assert len(text) > bounce_reports.LONGEST or text.lower().count(b"content-type") <= bounce_reports.MOST_PARTS


def test_reports_are_known_by_a_former_key(settings: Settings, alice: User, bob: User, monkeypatch: Any) -> None:
    settings.SECRET_KEY = OLD_KEY
    report = report_of(notice_to(alice, bob), about(b"alice@example.org"))
    settings.SECRET_KEY = NEW_KEY
    assert "is not one of this site" in refusal(report, monkeypatch)
    settings.SECRET_KEY_FALLBACKS = [OLD_KEY]
    give(report, monkeypatch)
    assert marked() == {"alice@example.org"}


def test_the_test_mail_is_known_too(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    content = mail_that_tests(alice.email).message().as_bytes()
    give(report_of(content, about(b"alice@example.org")), monkeypatch)


def test_only_people_who_get_their_mail_there_are_marked(
    sent: bytes, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    EmailAddress.objects.create(user=bob, email=bob.email, primary=True, verified=True)
    EmailAddress.objects.create(user=bob, email=alice.email, primary=False, verified=False)
    NoticeSettings.objects.update_or_create(user=bob, defaults={"bounced": bob.email, "bounced_at": timezone.now()})
    give(report_of(sent, about(b"alice@example.org")), monkeypatch)
    assert marked() == {"alice@example.org", "bob@example.org"}
    assert NoticeSettings.objects.get(user=bob).bounced == bob.email


def test_people_are_found_by_three_statements(alice: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(3):
        assert queries.people_with_mail_at("Alice@Example.org") == {alice.pk: alice.email}
