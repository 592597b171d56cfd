"""Mails as their reader gets them: sent over real SMTP to a server of our own, parsed, links followed."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from django.core import mail as django_mail
from django.core.mail.backends.smtp import EmailBackend
from django.utils import timezone

from games.notices import outbox

TAKEN = "250 OK"


@dataclass
class MailServer:
    """A mail server on this machine. `answer` may refuse a mail (its envelope is given), or misbehave.

    `refuses` has what it says of addresses that it takes no mail for. Mails to those in `hangs` are read whole and
    never answered, as by a server that looks for viruses for too long; at those in `hangs_up` it ends the connection.
    `left` has all of these.
    """

    answer: Callable[[Envelope], str] = lambda envelope: TAKEN
    refuses: dict[str, str] = field(default_factory=dict)
    hangs: set[str] = field(default_factory=set)
    hangs_up: set[str] = field(default_factory=set)
    left: list[Envelope] = field(default_factory=list)
    taken: list[Envelope] = field(default_factory=list)

    @property
    def mails(self) -> list[EmailMessage]:
        """What was taken, in order, as messages."""
        return [parsed(envelope.original_content or b"") for envelope in self.taken]


@dataclass
class _Hooks:
    """What aiosmtpd calls. It reads every attribute of these at every connection: nothing here may cost anything."""

    mail_server: MailServer

    async def handle_RCPT(  # noqa: N802  # aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.mail_server.refuses:
            return self.mail_server.refuses[address]
        envelope.rcpt_tos.append(address)
        return TAKEN

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802  # as above
        mail_server = self.mail_server
        if (mail_server.hangs | mail_server.hangs_up).intersection(envelope.rcpt_tos):
            mail_server.left.append(envelope)
            if server.transport is not None and mail_server.hangs_up.intersection(envelope.rcpt_tos):
                server.transport.close()
            await asyncio.Event().wait()  # until the client goes away
        said = mail_server.answer(envelope)
        if said.startswith("250"):
            mail_server.taken.append(envelope)
        return said


class PatientBackend(EmailBackend):
    """Waits for an answer longer than any test, and not so long that its claim is stale (`notices/outbox.py`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"timeout": 240})


class NoServer(EmailBackend):
    """A mail server that is away, and a request that must not talk to one."""

    def open(self) -> bool:
        raise ConnectionRefusedError


def deliver_now() -> list[Any]:
    """Let the outbox send what is due, and return every mail that Django's test backend has got so far."""
    outbox.deliver(clock=timezone.now)
    return list(django_mail.outbox)


def parsed(content: bytes) -> EmailMessage:
    message = message_from_bytes(content, policy=default)
    assert isinstance(message, EmailMessage)
    return message


def text_of(mail: EmailMessage, kind: str = "plain") -> str:
    """The text, or the HTML, of a mail."""
    part: Any = mail.get_body((kind,))
    content: str = part.get_content()
    return content


def links_in(mail: EmailMessage) -> list[str]:
    """The addresses of a mail's text, in order."""
    return re.findall(r"https?://\S+", text_of(mail))


def serve(server: MailServer) -> Controller:
    """Start the server on a free port; the caller stops it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    hooks = _Hooks(server)
    controller = Controller(hooks, hostname="127.0.0.1", port=port, server_hostname="mail.test")  # or it asks DNS
    controller.start()
    return controller
