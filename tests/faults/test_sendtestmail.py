"""`manage.py sendtestmail` says what the mail server did, or why it got no mail."""

from __future__ import annotations

import socket
import ssl
from io import StringIO
from pathlib import Path
from smtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPConnectError,
    SMTPNotSupportedError,
    SMTPSenderRefused,
    SMTPServerDisconnected,
)

import pytest
from django.core.mail.backends.smtp import EmailBackend
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from mail import outbox
from tests.support.mail import MailServer, text_of
from tests.support.ports import free_port

pytestmark = pytest.mark.django_db


def send(address: str = "ann@example.org") -> str:
    out = StringIO()
    call_command("sendtestmail", address, stdout=out)
    return out.getvalue()


def test_it_names_the_server_the_sender_and_the_address(server: MailServer, settings: Settings) -> None:
    settings.SITE_URL = "https://cards.example.org"
    said = send()
    assert (
        f"127.0.0.1:{settings.EMAIL_PORT} took the mail from {settings.DEFAULT_FROM_EMAIL} to ann@example.org.\n"
        in said
    )
    [mail] = server.mails
    assert (mail["To"], mail["Subject"]) == ("ann@example.org", "Test mail from No Mercy at cards.example.org")
    assert "No Mercy at https://cards.example.org\r\n" in text_of(mail)


def test_it_tells_that_other_mail_is_held(server: MailServer) -> None:
    assert "held" not in send()
    outbox.hold(why="restored", now=timezone.now())
    assert "is held after a restore or freeze, until: manage.py release\n" in send()
    assert len(server.mails) == 2


def test_without_a_server_it_fails_and_says_where_the_mail_is(settings: Settings, tmp_path: Path) -> None:
    settings.EMAIL_BACKEND = "nomercy.mail.FolderAndConsole"
    settings.EMAIL_HOST, settings.EMAIL_FILE_PATH = "", tmp_path
    assert refusal() == f"Nothing was sent: EMAIL_URL is not set. The mail is in {tmp_path}."
    assert len(list(tmp_path.glob("*.eml"))) == 1


def refusal() -> str:
    with pytest.raises(CommandError) as refused:
        send()
    said = str(refused.value)
    assert "\n" not in said
    assert "hidden" not in said
    return said


def test_it_repeats_the_reply_to_a_refused_address(server: MailServer) -> None:
    server.refuses["ann@example.org"] = "550 5.1.1 No such user"
    assert refusal().endswith(" refuses the address (550 5.1.1 No such user).")


def test_it_repeats_the_reply_to_a_refused_mail(server: MailServer) -> None:
    server.answer = lambda envelope: "554 5.7.1 Spam"
    assert refusal().endswith(" refuses the mail (554 5.7.1 Spam).")


@pytest.mark.parametrize("reply", ["451 4.3.0 Try again later", "421 Too many connections"])
def test_a_temporary_refusal_blames_no_setting(
    server: MailServer, monkeypatch: pytest.MonkeyPatch, settings: Settings, reply: str
) -> None:
    temporary = f" for now ({reply}). This is temporary: try again later."
    server.refuses["ann@example.org"] = reply
    assert refusal().endswith(f" refuses the address{temporary}")
    server.refuses.clear()
    server.answer = lambda envelope: reply
    assert refusal().endswith(f" refuses the mail{temporary}")
    code, said = int(reply[:3]), reply[4:].encode()

    def refuse_the_sender(*_: object) -> None:
        raise SMTPSenderRefused(code, said, "no-reply@example.org")

    monkeypatch.setattr(SMTP, "sendmail", refuse_the_sender)
    assert refusal().endswith(f" refuses the sender {settings.DEFAULT_FROM_EMAIL}{temporary}")


def test_it_says_that_the_server_is_silent(settings: Settings) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST = "django.core.mail.backends.smtp.EmailBackend", "127.0.0.1"
    settings.EMAIL_TIMEOUT = 0.2
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.EMAIL_PORT = port = silent.getsockname()[1]
        assert refusal() == f"Nothing was sent: 127.0.0.1:{port} did not answer within 0.2 s."


@pytest.mark.long
def test_it_says_that_the_server_did_not_answer_the_mail(server: MailServer, settings: Settings) -> None:
    settings.EMAIL_TIMEOUT = 0.5
    server.hangs.add("ann@example.org")
    assert refusal().endswith(" did not answer within 0.5 s.")


def test_it_says_that_nothing_listens(server: MailServer, settings: Settings) -> None:
    settings.EMAIL_PORT = port = free_port()
    said = refusal()
    assert (
        said == f"Nothing was sent: 127.0.0.1:{port} accepts no connection. Check the host and the port in EMAIL_URL."
    )


def test_it_says_that_the_server_offers_no_tls(server: MailServer, settings: Settings) -> None:
    settings.EMAIL_USE_TLS = True
    assert "does not offer what EMAIL_URL asks for: STARTTLS" in refusal()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            SMTPAuthenticationError(535, b"Bad\r\nlog-in"),
            "refuses the user and password in EMAIL_URL (535 Bad log-in).",
        ),
        (
            SMTPAuthenticationError(454, b"Later"),
            "in EMAIL_URL for now (454 Later). This is temporary: try again later.",
        ),
        (SMTPSenderRefused(550, b"No", "x"), "(550 No). See EMAIL_FROM."),
        (SMTPConnectError(554, b"No"), "mail.example.org:587 refuses the connection (554 No)."),
        (SMTPNotSupportedError("SMTP AUTH extension not supported by server."), "SMTP AUTH extension not supported by"),
        (SMTPServerDisconnected("closed"), "closed the connection. Check the scheme and the port in EMAIL_URL."),
        (ssl.SSLError(1, "wrong version number"), "smtps:// is for servers that begin with TLS"),
        (socket.gaierror(-2, "Name or service not known"), "the name mail.example.org is not known here."),
        (TimeoutError("timed out"), "mail.example.org:587 did not answer within 10 s."),
        (OSError(113, "No route to host"), "mail.example.org:587 failed ([Errno 113] No route to host)."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_failure_is_a_sentence(
    error: Exception, sentence: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(backend: EmailBackend) -> bool:
        raise error

    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_HOST_PASSWORD = "mail.example.org", 587, "hidden"
    monkeypatch.setattr(EmailBackend, "open", fail)
    assert sentence in refusal()


@pytest.mark.parametrize("address", ["ann", "=?utf-8?q?=61nn?=@example.org"])
def test_a_wrong_address_is_not_tried(server: MailServer, address: str) -> None:
    with pytest.raises(CommandError, match=r"is not an address that this site can send to\. Nothing was sent\.$"):
        send(address)
    assert server.mails == []
