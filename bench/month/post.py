"""The mails of the month: a real SMTP server receives them, and they are parsed, checked, and all links followed."""

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
"""How many links are opened between two checks of the database."""
BARE = re.compile(r"https?://[^\s<>\"]+")


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Run a mail server on this machine that Django sends to during the block."""
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
    """Return the faults of the mails: sent twice, unreadable, or without a way to stop them."""
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
    """Return all links to the site in both parts of a mail and in its headers."""
    found = [
        *HREF.findall(text_of(mail, "html")),
        *BARE.findall(text_of(mail)),
        *BARE.findall(mail["List-Unsubscribe"] or ""),
    ]
    return {link.replace("&amp;", "&").rstrip(".,)") for link in found if link.startswith(settings.SITE_URL)}


def follow(mails: list[EmailMessage]) -> tuple[int, list[str]]:
    """Open every link of these mails once without a log-in, as a scanner does. Return their number and the faults."""
    scanner = Client(headers={"host": urlsplit(settings.SITE_URL).netloc})
    links, faults = sorted(set().union(*(links_in(mail) for mail in mails))), []
    for first in range(0, len(links), TOGETHER):
        before = _stored()
        # A month of mails is read within a minute here, so the requests come from many networks.
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
        hash(tuple(Seat.objects.order_by("pk").values_list("end_seen_version", "misses", "bot"))),
    )
