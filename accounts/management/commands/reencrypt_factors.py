"""`manage.py reencrypt_factors`: after a change of `SECRET_KEY`, so that the old one can be thrown away."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import actions


class Command(BaseCommand):
    help = (
        "Encrypt every second factor with SECRET_KEY, reading with SECRET_KEY_FALLBACKS what an older key encrypted."
        " Ends with status 1 if no key decrypts some of them, and says whose they are."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--drop-unreadable",
            action="store_true",
            help="delete what no key decrypts: their owners log in by password alone, until they set up another factor",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        done, unreadable = actions.reencrypt_factors(drop_unreadable=options["drop_unreadable"])
        self.stdout.write(f"{done} encrypted with SECRET_KEY.")
        whose = ", ".join(unreadable)
        if unreadable and options["drop_unreadable"]:
            self.stdout.write(f"Deleted, because no key decrypts them: those of {whose}.")
        elif unreadable:
            raise CommandError(f"No key decrypts those of {whose}: is a key missing in SECRET_KEY_FALLBACKS?")
