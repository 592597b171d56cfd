"""`manage.py sendtestmail`: send a mail to an address, and say what the mail server did and what the DNS says."""

from __future__ import annotations

import socket
import ssl
from argparse import ArgumentParser
from collections.abc import Iterable
from email.utils import parseaddr
from smtplib import (
    SMTPAuthenticationError,
    SMTPDataError,
    SMTPException,
    SMTPNotSupportedError,
    SMTPRecipientsRefused,
    SMTPResponseException,
    SMTPSenderRefused,
    SMTPServerDisconnected,
)
from typing import Any, Final
from uuid import uuid4

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from dns.exception import DNSException

from accounts.mails import headers, host
from games.management.sender_records import findings, resolver_at
from mail.addresses import validate_address
from mail.models import Outbox

LONGEST_REPLY: Final = 300
"""How many characters of a mail server's reply are shown."""


class Command(BaseCommand):
    help = (
        "Sends a mail to an address and says which server took it, or why not. Exits 1 if it was not taken."
        " Then looks up SPF, DKIM and DMARC of the sender's domain, and says what to set."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", help="where to send it")
        parser.add_argument("--selector", default="", help="the selector with which your mail service signs (DKIM)")
        parser.add_argument(
            "--resolver", default="", help="the DNS resolver to ask instead of the machine's own, like 1.1.1.1"
        )

    def handle(self, *, address: str, selector: str = "", resolver: str = "", **_: Any) -> None:
        try:
            validate_address(address)
        except ValidationError:
            raise CommandError(f"{address} is not an address that this site can send to. Nothing was sent.") from None
        connection = get_connection()
        try:
            connection.send_messages([test_mail(address)])
        except (OSError, SMTPException) as error:
            raise CommandError(f"Nothing was sent: {reason(error)}.") from error
        finally:
            connection.close()  # Django leaves it open if it fails before the log-in
        if not settings.EMAIL_HOST:
            raise CommandError(f"Nothing was sent: EMAIL_URL is not set. The mail is in {settings.EMAIL_FILE_PATH}.")
        self.stdout.write(f"{_server()} took the mail from {settings.DEFAULT_FROM_EMAIL} to {address}.")
        self.stdout.write("If it does not arrive, look into the spam folder and the log of that server.")
        for line in _records(selector, resolver):
            self.stdout.write(line)
        if Outbox.objects.filter(held_since__isnull=False).exists():
            self.stdout.write("All other mail of this site is held after a restore or freeze, until: manage.py release")


def _records(selector: str, resolver: str) -> Iterable[str]:
    """Return what the DNS says about mail from the sender's domain."""
    try:
        asked = resolver_at(resolver)
    except DNSException:
        return ["SPF, DKIM and DMARC: this machine has no DNS resolver. Give one with --resolver."]
    except ValueError:
        return [f"SPF, DKIM and DMARC: {resolver} is no address of a resolver, like 1.1.1.1 or 127.0.0.1:5353."]
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2]
    return findings(domain, selector=selector, resolver=asked)


def test_mail(address: str) -> EmailMessage:
    """Return the mail to this address."""
    text = (
        f"This is a test of the mail settings of {settings.SITE_NAME} at {settings.SITE_URL}\n\n"
        "If you can read it, this site can send mail to this address. There is nothing else to do.\n"
    )
    unique = headers(f"test.{uuid4().hex}", to=address, now=timezone.now())
    return EmailMessage(f"Test mail from {settings.SITE_NAME} at {host()}", text, to=[address], headers=unique)


def reason(error: OSError | SMTPException) -> str:
    """Return why no mail was sent, as the end of a sentence without its full stop. It contains no password."""
    server = _server()
    match error:
        case SMTPAuthenticationError():
            return _refuses("the user and password in EMAIL_URL", error.smtp_code, error.smtp_error)
        case SMTPSenderRefused():
            sender = f"the sender {settings.DEFAULT_FROM_EMAIL}"
            return _refuses(sender, error.smtp_code, error.smtp_error, advice="See EMAIL_FROM")
        case SMTPRecipientsRefused():
            code, said = next(iter(error.recipients.values()))
            return _refuses("the address", code, said)
        case SMTPDataError():
            return _refuses("the mail", error.smtp_code, error.smtp_error)
        case SMTPResponseException():
            return _refuses("the connection", error.smtp_code, error.smtp_error)
        case SMTPNotSupportedError():
            return f"{server} does not offer what EMAIL_URL asks for: {str(error).rstrip('.')}"
        case SMTPServerDisconnected() if not isinstance(error.__context__, TimeoutError):
            return f"{server} closed the connection. Check the scheme and the port in EMAIL_URL"
        case ssl.SSLError():
            return (
                f"TLS with {server} failed ({error}). smtps:// is for servers that begin with TLS"
                " (mostly port 465), smtp+tls:// for those that change to it (mostly port 587)"
            )
        case socket.gaierror():
            return f"the name {settings.EMAIL_HOST} is not known here"
        case TimeoutError() | SMTPServerDisconnected():
            return f"{server} did not answer within {settings.EMAIL_TIMEOUT} s"
        case ConnectionRefusedError():
            return f"{server} accepts no connection. Check the host and the port in EMAIL_URL"
    return f"{server} failed ({str(error)[:LONGEST_REPLY]})" if settings.EMAIL_HOST else str(error)


def _refuses(what: str, code: int, said: bytes | str, *, advice: str = "") -> str:
    """Return what the server refuses, with its reply. A reply of 400 to 499 is temporary, so it blames no setting."""
    if 400 <= code < 500:
        return f"{_server()} refuses {what} for now ({_reply(code, said)}). This is temporary: try again later"
    return f"{_server()} refuses {what} ({_reply(code, said)})" + (f". {advice}" if advice else "")


def _server() -> str:
    return f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"


def _reply(code: int, said: bytes | str) -> str:
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return f"{code} {' '.join(text.split())}"[:LONGEST_REPLY]
