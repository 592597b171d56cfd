"""`manage.py bounced`: stop mail to addresses that bounced, until their owners confirm that they work."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from email import message_from_binary_file
from email.message import Message
from email.policy import default
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from games.notices import preferences
from games.render.words import counted


class Command(BaseCommand):
    help = "Stops mail to addresses that bounced: those named, or those in a delivery report on standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addresses", nargs="*", help="addresses; without any, a delivery report (RFC 3464) is read")

    def handle(self, *, addresses: list[str], **_: Any) -> None:
        found = addresses or failed_in(message_from_binary_file(sys.stdin.buffer, policy=default))
        if not found:
            raise CommandError("This is not a report of a permanent failure. Nothing was changed.")
        for address in found:
            people = preferences.mark_bounced(address=address, now=timezone.now())
            self.stdout.write(f"{address}: {counted(people, 'person', 'people')}")


def failed_in(report: Message) -> list[str]:
    """Return the addresses that have failed permanently according to a delivery report (RFC 3464)."""
    found = []
    for part in report.walk():
        if part.get_content_type() != "message/delivery-status":
            continue
        for fields in part.get_payload():
            assert isinstance(fields, Message)
            failed = fields.get("Action", "").strip().lower() == "failed"
            if failed and fields.get("Status", "").strip().startswith("5"):
                found.append(fields.get("Final-Recipient", "").split(";")[-1].strip())
    return [address for address in dict.fromkeys(found) if address]
