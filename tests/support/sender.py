"""Sends due mails in a process that tests can kill: `python -m tests.support.sender MINUTES`.

Its clock is MINUTES ahead. It prints `ready`, waits for a line on standard input, sends what is due, and ends.
"""

import gc
import os
import sys
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")


def main() -> None:
    gc.disable()  # nearly all objects that are made by the setup stay
    django.setup()
    gc.freeze()
    gc.enable()
    from django.db import connection  # noqa: PLC0415  # after the setup
    from django.utils import timezone  # noqa: PLC0415  # after the setup

    from mail import outbox  # noqa: PLC0415

    connection.ensure_connection()
    ahead = timedelta(minutes=int(sys.argv[1]))
    print("ready", flush=True)
    sys.stdin.readline()
    outbox.deliver(clock=lambda: timezone.now() + ahead)


if __name__ == "__main__":
    main()
