#!/usr/bin/env python
"""Django's commands. Without `DATABASE_URL` they use the embedded PostgreSQL, and start it if it is not running.

They never make its data: in a production checkout whose environment is not loaded, that would be an empty site.
"""

import gc
import os
import signal
import sys
import warnings

import django
from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import ProgrammingError

from common.interrupts import raise_terminated, status_of
from common.schema import what_to_do
from games.refusals import does_not_fit
from nomercy.checks import Environment
from nomercy.launcher.given import require_reachable
from nomercy.launcher.place import EmbeddedError, folders, place_for
from nomercy.launcher.postgres import running

WITHOUT_DATABASE = {
    "check",
    "collectstatic",
    "compilemessages",
    "diffsettings",
    "findstatic",
    "help",
    "makemessages",
    "verify_backup",
    "version",
}

NOTHING_TO_RESTORE_INTO = (
    "There is no database here to restore into. If the settings are lost too, get them out of the backup first:"
    " manage.py verify_backup FILE --write-settings local.env. Then start script/run once and stop it, or set"
    " DATABASE_URL to an empty database, and run this again. docs/operations.md says more under Restoring."
)


def main() -> None:
    signal.signal(signal.SIGTERM, raise_terminated)  # the embedded server is released before the end
    try:
        run()
        sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        print("Stopped before the command had finished.", file=sys.stderr)
        sys.exit(status_of(interrupt))
    except BrokenPipeError:
        # Nobody reads the output any more, as in `manage.py … | head`. Python would fail again when it flushes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)


def run() -> None:
    gc.disable()  # nearly all objects that are made until `execute` stay
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
    Environment()  # reads the environment file
    for timeout in ("STATEMENT_TIMEOUT_MS", "IDLE_TRANSACTION_TIMEOUT_MS"):
        os.environ.setdefault(timeout, "0")  # for requests only: commands may take long
    wants_help = bool({"--help", "-h", "--version"} & set(sys.argv))
    if wants_help or len(sys.argv) < 2 or sys.argv[1] in WITHOUT_DATABASE:
        execute()
        return
    if not settings.EMBEDDED:
        require_reachable()
        execute()
        return
    if sys.argv[1] == "makemigrations" and not folders(place_for()):
        # It also compares the migrations with a database, if there is one.
        warnings.filterwarnings("ignore", "Got an error checking a consistent migration history", RuntimeWarning)
        execute()
        return
    try:
        with running(create=False):
            execute()
    except EmbeddedError as error:
        sys.exit(NOTHING_TO_RESTORE_INTO if sys.argv[1] == "restore" and not folders(place_for()) else str(error))


def execute() -> None:
    """Run the command of this command line.

    :raises SystemExit: the database does not have the tables of this release. The reason is one sentence.
    """
    django.setup()
    gc.freeze()  # at its end, a process would check all that is loaded, for 0.2 s
    gc.enable()
    try:
        execute_from_command_line(sys.argv)
    except ProgrammingError as error:
        if not does_not_fit(error):
            raise
        sys.exit(what_to_do())


if __name__ == "__main__":
    main()
