"""A mail server for tests, and helpers to read mails."""

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

from mail import outbox

TAKEN = "250 OK"


@dataclass
class MailServer:
    """A mail server on this machine.

    `answer` gets the envelope of each mail and returns the reply; it may refuse the mail or misbehave. `refuses` maps
    addresses to the reply that refuses them. A mail to an address in `hangs` is read and never answered. After a mail
    to an address in `hangs_up` the connection is closed. `left` has the mails of both, and `taken` those accepted.
    """

    answer: Callable[[Envelope], str] = lambda envelope: TAKEN
    refuses: dict[str, str] = field(default_factory=dict)
    hangs: set[str] = field(default_factory=set)
    hangs_up: set[str] = field(default_factory=set)
    left: list[Envelope] = field(default_factory=list)
    taken: list[Envelope] = field(default_factory=list)

    @property
    def mails(self) -> list[EmailMessage]:
        """The accepted mails, in order."""
        return [parsed(envelope.original_content or b"") for envelope in self.taken]


@dataclass
class _Hooks:
    """The handlers that aiosmtpd calls. It reads every attribute at every connection, so none may be slow."""

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
    """Waits longer for an answer than any test, but not until its claim is stale (`mail/claims.py`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"timeout": 240})


class NoServer(EmailBackend):
    """A mail server that cannot be reached, for requests that must not use one."""

    def open(self) -> bool:
        raise ConnectionRefusedError


def deliver_now() -> list[Any]:
    """Send what is due, and return all mails that Django's test backend has so far."""
    outbox.deliver(clock=timezone.now)
    return list(django_mail.outbox)


def parsed(content: bytes) -> EmailMessage:
    message = message_from_bytes(content, policy=default)
    assert isinstance(message, EmailMessage)
    return message


def text_of(mail: EmailMessage, kind: str = "plain") -> str:
    """Return the text of a mail, or with `kind` "html" its HTML."""
    part: Any = mail.get_body((kind,))
    content: str = part.get_content()
    return content


def links_in(mail: EmailMessage) -> list[str]:
    """Return the links in the text of a mail, in order."""
    return re.findall(r"https?://\S+", text_of(mail))


def serve(server: MailServer) -> Controller:
    """Start the server on a free port. The caller must stop it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    hooks = _Hooks(server)
    controller = Controller(hooks, hostname="127.0.0.1", port=port, server_hostname="mail.test")  # avoids DNS
    controller.start()
    return controller
