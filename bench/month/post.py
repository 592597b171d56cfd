"""The mails of the month: taken by a real SMTP server, parsed, looked at, and every link of theirs followed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.test import Client, override_settings

from games.models import Game, Move, Seat
from tests.support.mail import MailServer, serve, text_of

HREF = re.compile(r'href="(https?://[^"]+)"')
TOGETHER = 100
"""So many links are opened between two looks at what is stored."""
BARE = re.compile(r"https?://[^\s<>\"]+")


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """A mail server on this machine that Django sends to while the block runs."""
    server = MailServer()
    controller = serve(server)
    try:
        with override_settings(
            EMAIL_BACKEND="django.core.mail.backends.smtp.EmailBackend",
            EMAIL_HOST="127.0.0.1",
            EMAIL_PORT=controller.port,
            EMAIL_HOST_USER="",
            EMAIL_HOST_PASSWORD="",
            EMAIL_USE_TLS=False,
            EMAIL_USE_SSL=False,
        ):
            yield server
    finally:
        controller.stop()


def faults_in(mails: list[EmailMessage]) -> list[str]:
    """What is wrong with the mails themselves: sent twice, unreadable, or without a way to stop them."""
    faults = [f"sent {n} times: {name}" for name, n in Counter(mail["Message-ID"] for mail in mails).items() if n > 1]
    for mail in mails:
        parts = [part.get_content_type() for part in mail.walk()]
        if parts != ["multipart/alternative", "text/plain", "text/html"]:
            faults.append(f"{mail['Message-ID']} consists of {parts}")
        elif not text_of(mail).strip() or "</html>" not in text_of(mail, "html"):
            faults.append(f"{mail['Message-ID']} says nothing")
        if mail["List-Unsubscribe-Post"] != "List-Unsubscribe=One-Click" or not mail["List-Unsubscribe"]:
            faults.append(f"{mail['Message-ID']} cannot be stopped by one click")
        if len(mail.get_all("To", [])) != 1 or "\n" in (mail["Subject"] or "\n"):
            faults.append(f"{mail['Message-ID']} has odd headers")
    return faults


def links_in(mail: EmailMessage) -> set[str]:
    """Every address of ours in both forms of a mail and in its headers."""
    found = [
        *HREF.findall(text_of(mail, "html")),
        *BARE.findall(text_of(mail)),
        *BARE.findall(mail["List-Unsubscribe"] or ""),
    ]
    return {link.replace("&amp;", "&").rstrip(".,)") for link in found if link.startswith(settings.SITE_URL)}


def follow(mails: list[EmailMessage]) -> tuple[int, list[str]]:
    """Open every link of these mails once, as a scanner does: not logged in. Gives their number and what went wrong."""
    scanner = Client(headers={"host": urlsplit(settings.SITE_URL).netloc})
    links, faults = sorted(set().union(*(links_in(mail) for mail in mails))), []
    for first in range(0, len(links), TOGETHER):
        before = _stored()
        # The mails of a month are read within a minute here: each network opens no more than people would.
        address = str(ip_address("10.0.0.0") + first // TOGETHER)
        for link in links[first : first + TOGETHER]:
            target = urlsplit(link)
            scanner.cookies.clear()
            path = target.path + (f"?{target.query}" if target.query else "")
            answer = scanner.get(path, follow=True, REMOTE_ADDR=address)
            if answer.status_code != 200:
                faults.append(f"{link} answered {answer.status_code}")
        if _stored() != before:
            faults.append(f"opening one of the links from {links[first]} on changed something")
    return len(links), faults


def _stored() -> tuple[object, ...]:
    versions = Game.objects.order_by("pk").values_list("version", "status", "deadline")
    return (
        hash(tuple(versions)),
        Move.objects.count(),
        hash(tuple(Seat.objects.order_by("pk").values_list("seen", "misses", "bot"))),
    )
