"""`manage.py changepassword USERNAME`: set a password, end all sessions and revoke all API tokens of the account."""

from __future__ import annotations

import getpass
from argparse import ArgumentParser
from typing import Any, Final

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from accounts import mails, password_forms, queries
from accounts.hashers import normalized
from accounts.models import User

TRIES: Final = 3


class Command(BaseCommand):
    """Replaces Django's command, which keeps API tokens and writes back the whole row as it was before the prompt."""

    help = "Set a password, end all sessions and revoke all API tokens of the account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", nargs="?", help="the account; by default your name on this machine")

    def handle(self, *args: Any, **options: Any) -> str:
        user = queries.person_named(options["username"] or getpass.getuser())
        if user is None or user.is_guest:
            raise CommandError("No account has this username. Guests have no password.")
        self.stdout.write(f"Changing the password of {user.username}.")
        password = self._typed_password(user)
        with transaction.atomic():
            removed = password_forms.replace_password(user=user, password=password)
            mails.notify(kind=mails.PASSWORD_CHANGED, user=user, now=timezone.now())
        if removed:
            self.stdout.write(f"These addresses were not confirmed and are removed: {', '.join(removed)}.")
        return f"{user.username} has a new password. All sessions have ended and all API tokens are revoked."

    def _typed_password(self, user: User) -> str:
        for _ in range(TRIES):
            password = getpass.getpass()
            if password != getpass.getpass("Password (again): "):
                self.stderr.write("The passwords differ. Try again.")
                continue
            try:
                validate_password(normalized(password), user)
            except ValidationError as refused:
                self.stderr.write("\n".join(refused.messages))
                continue
            return password
        raise CommandError(f"The password was not changed: {TRIES} tries were refused. Run the command again.")
