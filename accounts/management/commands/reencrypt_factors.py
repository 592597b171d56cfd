"""`manage.py reencrypt_factors`: encrypt second factors with the current `SECRET_KEY`, so that old keys can go."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import actions


class Command(BaseCommand):
    help = (
        "Encrypt every second factor with SECRET_KEY. Keys in SECRET_KEY_FALLBACKS are used to decrypt."
        " If no key decrypts some of them, it names their owners and exits with status 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--drop-unreadable",
            action="store_true",
            help="delete factors that no key decrypts; their owners can then log in by password alone",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        done, unreadable = actions.reencrypt_factors(drop_unreadable=options["drop_unreadable"])
        self.stdout.write(f"{done} second factor{'' if done == 1 else 's'} encrypted with SECRET_KEY.")
        whose = ", ".join(unreadable)
        if unreadable and options["drop_unreadable"]:
            self.stdout.write(f"Deleted the second factors of {whose}, because no key decrypts them.")
        elif unreadable:
            raise CommandError(
                f"No key decrypts the second factors of {whose}. Add the key they were encrypted with to"
                " SECRET_KEY_FALLBACKS, or delete them with --drop-unreadable."
            )
