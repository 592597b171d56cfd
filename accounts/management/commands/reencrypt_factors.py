"""`manage.py reencrypt_factors`: encrypt stored secrets with the current `SECRET_KEY`, so that old keys can go."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import actions


class Command(BaseCommand):
    help = (
        "Encrypt every second factor, the key for push services and the secrets of webhooks with SECRET_KEY. Keys in"
        " SECRET_KEY_FALLBACKS are used to decrypt. If no key decrypts some of them, it names them or their owners and"
        " exits with status 1."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--drop-unreadable",
            action="store_true",
            help="delete what no key decrypts; owners of factors can then log in by password alone",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        drop = options["drop_unreadable"]
        done, unreadable = actions.reencrypt_factors(drop_unreadable=drop)
        self.stdout.write(f"{done} second factor{'' if done == 1 else 's'} encrypted with SECRET_KEY.")
        others, lost = actions.reencrypt_columns(drop_unreadable=drop)
        if others:
            self.stdout.write(f"{others} other secret{'' if others == 1 else 's'} encrypted with SECRET_KEY.")
        what = [f"the second factors of {', '.join(unreadable)}"] if unreadable else []
        said = " and ".join([*what, *lost])
        if said and drop:
            self.stdout.write(f"Deleted {said}, because no key decrypts them.")
        elif said:
            raise CommandError(
                f"No key decrypts {said}. Add the key they were encrypted with to SECRET_KEY_FALLBACKS, or delete them"
                " with --drop-unreadable."
            )
