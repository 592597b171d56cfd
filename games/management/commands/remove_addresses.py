"""`manage.py remove_addresses`: remove the mail addresses of a closed account, whose owner has asked for deletion."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts import actions, queries
from games.notices import preferences

UNCHANGED: Final = "Nothing was changed."


class Command(BaseCommand):
    help = "Removes the mail addresses of a closed account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", nargs="?", help="the account; asked for if it is missing")

    def handle(self, *args: Any, **options: Any) -> None:
        username = options["username"] or _ask()
        found = queries.person_named(username)
        if found is None:
            raise CommandError(f"No account has the username {username}. {UNCHANGED}")
        try:
            with transaction.atomic():
                removed = actions.remove_addresses(user=found)
                preferences.forget_bounced(user_id=found.pk)
        except actions.AccountOpen:
            raise CommandError(
                f"The account of {found.username} is open. Close it on the person's page first, which ends its"
                f" sessions. {UNCHANGED}"
            ) from None
        if removed:
            self.stdout.write(f"Removed from {found.username}: {', '.join(removed)}.")
        else:
            self.stdout.write(f"{found.username} has no mail address. {UNCHANGED}")


def _ask() -> str:
    try:
        username = input("Username of the closed account: ").strip()
    except EOFError:
        username = ""
    if not username:
        raise CommandError(f"Give the username of the closed account. {UNCHANGED}")
    return username
