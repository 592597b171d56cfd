"""`manage.py prepare`: all that a new release needs before its start, in one process, because each takes a second."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Runs migrate, freeze --if-restored and, if STATIC_ROOT is set, collectstatic."
    requires_system_checks: list[str] = []  # migrate runs them

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
        call_command("freeze", if_restored=True)
        if settings.STATIC_ROOT is not None:
            call_command("collectstatic", interactive=False, verbosity=0)
