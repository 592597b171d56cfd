"""`manage.py health`: print what is overdue, and whether the background work runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from games.queries.backlog import backlog
from games.render.words import duration

LATE = timedelta(minutes=10)
"""How late a notice or a mail may be before the worker or the mail server counts as failing."""


class Command(BaseCommand):
    help = "Prints the last sweep and the overdue clocks, bots, notices and mails. Exits 1 if one of them is late."

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        grace = timedelta(seconds=settings.SWEEP_GRACE_SECONDS)
        found = backlog(now, grace=grace)
        swept = "never" if found.sweep is None else f"{_time(found.sweep)} ago"
        self._line("last sweep", swept + (", giving back the time of an outage" if found.giving_back else ""))
        self._line("turns overdue", f"{found.clocks.count}, the longest by {_time(found.clocks.longest)}")
        self._line("clocks failing", str(found.late.failing))
        self._line("bots overdue", f"{found.bots.count}, the longest by {_time(found.bots.longest)}")
        self._line("notices overdue", f"{found.notices.count}, the longest by {_time(found.notices.longest)}")
        accounts = found.account_mails
        self._line("account mails", f"{accounts.count} overdue, the longest by {_time(accounts.longest)}")
        self._line("mail", "goes out" if found.held_since is None else f"held since {found.held_since:%F %T} UTC")
        self._line("games stopped", str(found.stopped))
        late = {
            "the sweep does not run": found.sweep is None or found.sweep > grace,
            "clocks do not act": found.late.untried > 0,
            "clocks of single games fail (the log says which)": found.late.failing > 0,
            "bots do not move": found.bots.longest > grace,
            "notices are not sent": found.notices.longest > LATE and found.held_since is None,
            "mails about accounts are not sent": accounts.longest > LATE and found.held_since is None,
        }
        failures = [what for what, failing in late.items() if failing]
        if failures:
            raise CommandError("; ".join(failures) + ".", returncode=1)

    def _line(self, what: str, how: str) -> None:
        self.stdout.write(f"{what:<16} {how}")


def _time(length: timedelta) -> str:
    return duration(round(length.total_seconds()))
