"""`manage.py health`: print what is overdue, and whether the background work runs."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from common import disk
from common.schema import migrated, used_by_newer_code
from games.queries.backlog import LATE, Backlog, Overdue, backlog
from games.render.words import duration

MISSING: Final = "migrations are missing, until: manage.py migrate"
NOTHING_SAVED: Final = {
    disk.DISK_FULL: "the disk of the database is full, so nothing can be saved",
    disk.CANNOT_WRITE: "the database cannot write to its disk, so nothing can be saved",
}


class Command(BaseCommand):
    help = (
        "Prints the last sweep and the overdue clocks, bots, notices and mails. Exits 1 if one of them is late, if"
        " the database cannot write to its disk, if the site is frozen after a restore, or if migrations are missing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object, with all times in seconds")

    def handle(self, *args: Any, **options: Any) -> None:
        grace = timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
        found = backlog(timezone.now(), grace=grace)
        writing = disk.writing()
        nothing_saved = [] if writing == disk.OK else [NOTHING_SAVED[writing]]
        failures = [*nothing_saved, *([] if migrated() else [MISSING]), *failing(found, grace)]
        if options["json"]:
            self.stdout.write(json.dumps(as_json(found, failures)))
        else:
            for what, how in as_lines(found).items():
                self.stdout.write(f"{what:<16} {how}")
        if newer := used_by_newer_code():
            self.stderr.write(newer)
        if failures:
            raise CommandError("; ".join(failures) + ".", returncode=1)


def failing(found: Backlog, grace: timedelta) -> list[str]:
    """Return what is wrong, a clause each. Empty if nothing is."""
    late = {
        "games are stopped and mail is held after a restore or freeze, until: manage.py release": found.is_frozen,
        "the sweep does not run": found.sweep is None or found.sweep > grace,
        "clocks do not act": found.late.untried > 0,
        "clocks of single games fail (the log says which)": found.late.failing > 0,
        "bots do not move": found.bots.longest > grace,
        "notices are not sent": found.notices.longest > LATE and not found.is_frozen,
        "mails about accounts are not sent": found.account_mails.longest > LATE and not found.is_frozen,
    }
    return [what for what, is_failing in late.items() if is_failing]


def as_lines(found: Backlog) -> dict[str, str]:
    """Return the text of each line by its name."""
    swept = "never" if found.sweep is None else f"{_time(found.sweep)} ago"
    accounts = found.account_mails
    return {
        "last sweep": swept + (", giving back the time of an outage" if found.giving_back else ""),
        "turns overdue": f"{found.clocks.count}, the longest by {_time(found.clocks.longest)}",
        "clocks failing": str(found.late.failing),
        "bots overdue": f"{found.bots.count}, the longest by {_time(found.bots.longest)}",
        "notices overdue": f"{found.notices.count}, the longest by {_time(found.notices.longest)}",
        "account mails": f"{accounts.count} overdue, the longest by {_time(accounts.longest)}",
        "mail": "goes out" if found.held_since is None else f"held since {found.held_since:%F %T} UTC",
        "games stopped": str(found.stopped),
    }


def as_json(found: Backlog, failures: list[str]) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "healthy": not failures,
        "frozen": found.is_frozen,
        "failures": failures,
        "sweep_seconds_ago": None if found.sweep is None else round(found.sweep.total_seconds()),
        "giving_back": found.giving_back,
        "turns": _overdue(found.clocks),
        "clocks_failing": found.late.failing,
        "bots": _overdue(found.bots),
        "notices": _overdue(found.notices),
        "account_mails": _overdue(found.account_mails),
        "held_since": None if found.held_since is None else found.held_since.isoformat(),
        "games_stopped": found.stopped,
    }


def _overdue(overdue: Overdue) -> dict[str, int]:
    return {"overdue": overdue.count, "longest_seconds": round(overdue.longest.total_seconds())}


def _time(length: timedelta) -> str:
    return duration(round(length.total_seconds()))
