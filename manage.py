#!/usr/bin/env python
"""Django's commands. Without `DATABASE_URL` they use the embedded PostgreSQL, and start it if it is not running."""

import os
import signal
import sys

from django.core.management import execute_from_command_line

from nomercy.launcher.given import require_reachable
from nomercy.launcher.place import EmbeddedError
from nomercy.launcher.postgres import running

WITHOUT_DATABASE = {
    "check",
    "collectstatic",
    "compilemessages",
    "diffsettings",
    "findstatic",
    "help",
    "makemessages",
    "version",
}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
    for timeout in ("STATEMENT_TIMEOUT_MS", "IDLE_TRANSACTION_TIMEOUT_MS"):
        os.environ.setdefault(timeout, "0")  # for requests only: commands may take long
    wants_help = bool({"--help", "-h", "--version"} & set(sys.argv))
    if wants_help or len(sys.argv) < 2 or sys.argv[1] in WITHOUT_DATABASE:
        execute_from_command_line(sys.argv)
        return
    if os.environ.get("DATABASE_URL"):
        require_reachable()
        execute_from_command_line(sys.argv)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # releases the server
    try:
        with running():
            execute_from_command_line(sys.argv)
    except EmbeddedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
