"""`manage.py bounced`: stop mail to addresses that bounced, until their owners confirm that they work."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from games.notices import preferences
from games.staff.words import counted
from mail.bounce_reports import LONGEST, BadReport, failed_address


class Command(BaseCommand):
    help = (
        "Stops mail to addresses that bounced: those named, or the one in a delivery report on standard input, which"
        f" must return a mail of this site. Exits {os.EX_DATAERR} if it is not such a report."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addresses", nargs="*", help="addresses; without any, a delivery report (RFC 3464) is read")

    def handle(self, *, addresses: list[str], **_: Any) -> None:
        for address in addresses or [self._reported()]:
            people = preferences.mark_bounced(address=address, now=timezone.now())
            self.stdout.write(f"{address}: {counted(people, 'person', 'people')}")

    def _reported(self) -> str:
        """Return the address that failed according to the report on standard input.

        :raises CommandError: with the status that tells a mail server not to try the same text again.
        """
        try:
            return failed_address(sys.stdin.buffer.read(LONGEST + 1))
        except BadReport as error:
            raise CommandError(f"{error} Nothing was changed.", returncode=os.EX_DATAERR) from error
