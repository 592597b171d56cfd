"""`manage.py create_token USERNAME`: create an API token, and print it as the last word."""

from argparse import ArgumentParser
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts import actions, queries
from accounts.models import ApiToken

MOST_DAYS: Final = 3650


class Command(BaseCommand):
    help = "Create an API token. It is printed once, as the last word; only its hash is stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--create", action="store_true", help="create the person if nobody has this name")
        parser.add_argument("--program", action="store_true", help="with --create: a program plays for the account")
        parser.add_argument("--name", default="made by manage.py", help="the name of the token on the account page")

        parser.add_argument("--only-read", action="store_true", help="it may read, but not play")
        parser.add_argument("--days", type=int, help="it works for so many days (default: until it is revoked)")

    def handle(self, *args: Any, **options: Any) -> None:
        user = queries.person_named(options["username"])
        if user is not None and options["program"]:
            raise CommandError(
                f"There is a user {user.username}. Say on their account page that a program plays for them."
            )
        if options["days"] is not None and not 1 <= options["days"] <= MOST_DAYS:
            raise CommandError(f"Give --days a number from 1 to {MOST_DAYS}.")
        if user is None and options["create"]:
            try:
                user = actions.create_person(username=options["username"], is_program=options["program"])
            except ValidationError as error:
                raise CommandError(" ".join(error.messages)) from None
        if user is None:
            raise CommandError(f"There is no user {options['username']}. Use --create to create one.")
        try:
            token = actions.create_token(
                user=user,
                name=options["name"],
                now=timezone.now(),
                scope=ApiToken.Scope.READ if options["only_read"] else ApiToken.Scope.PLAY,
                days=options["days"],
            )
        except actions.TooManyTokens:
            raise CommandError(
                f"{user.username} has {actions.TOKENS_A_USER} tokens already. Revoke one first."
            ) from None
        self.stdout.write(f"Token of {user.username}: {token}")
