"""What the commands about backups share: the passphrase, and one sentence for each failure."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from getpass import getpass
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError
from django.db import Error

from common.interrupts import says_if_interrupted
from nomercy.backup.archive import BackupError, is_encrypted
from nomercy.checks import SHORTEST_PASSPHRASE, Environment

PASSPHRASE: Final = "BACKUP_PASSPHRASE"  # noqa: S105  # the name of the variable
OR_ITS_FILE: Final = f"{PASSPHRASE} or BACKUP_PASSPHRASE_FILE"


def add_passphrase_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="PATH",
        help=f"a file whose first line is the passphrase; without it, {OR_ITS_FILE} is used",
    )


def add_reading_options(parser: ArgumentParser) -> None:
    add_passphrase_option(parser)
    parser.add_argument("--not-encrypted", action="store_true", help="read a file that is not encrypted all the same")


def given_passphrase(options: dict[str, Any]) -> str:
    """Return the passphrase of the option or of the environment, "" if there is none.

    :raises CommandError: its file is empty.
    :raises OSError: its file cannot be read.
    """
    path: Path | None = options["passphrase_file"]
    if path is None:
        return Environment().passphrase(PASSPHRASE)
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or not lines[0].strip():
        raise CommandError(f"{path} has no passphrase in its first line.")
    return lines[0].strip()


def new_passphrase(options: dict[str, Any]) -> str:
    """Return the passphrase for a new backup, "" for none. Ask for it with the option `encrypt` if none is given.

    :raises CommandError: it is too short, was typed in two ways, or cannot be asked for.
    """
    passphrase = given_passphrase(options)
    if not passphrase and options["encrypt"]:
        passphrase = _ask("Passphrase: ")
        if passphrase != _ask("The same again: "):
            raise CommandError("These were two different passphrases. No backup was made.")
    if (passphrase or options["encrypt"]) and len(passphrase) < SHORTEST_PASSPHRASE:
        raise CommandError(f"The passphrase must have at least {SHORTEST_PASSPHRASE} characters. No backup was made.")
    return passphrase


def known_passphrase(path: Path, options: dict[str, Any]) -> str:
    """Return the passphrase of this backup, "" if it is not encrypted. Ask for it if none is given.

    :raises CommandError: there is nobody to ask; or a passphrase is given, but the file is not encrypted.
    :raises OSError: the file, or that of the passphrase, cannot be read.
    """
    passphrase = given_passphrase(options)
    if is_encrypted(path):
        return passphrase or _ask("Passphrase of the backup: ")
    if passphrase and not options["not_encrypted"]:
        # Somebody may have put a file of their own in place of the encrypted one.
        raise CommandError(
            f"A passphrase is given, but {path} is not encrypted, so anybody could have made it. If you expected that,"
            " run the command again with --not-encrypted."
        )
    return ""


@contextmanager
def one_sentence(afterwards: str) -> Iterator[None]:
    """Turn the errors of a backup, and an interrupt, into one that has a sentence about the cause, and `afterwards`.

    :param afterwards: another sentence, or "".
    :raises CommandError: the block raised such an error, or was interrupted.
    """
    more = f" {afterwards}" if afterwards else ""
    try:
        with says_if_interrupted(f"Stopped.{more}"):
            yield
    except BackupError as error:
        raise CommandError(f"{error}{more}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"The file of the passphrase is not a text in UTF-8.{more}") from error
    except OSError as error:
        raise CommandError(f"{error.filename or 'The file'}: {error.strerror}.{more}") from error
    except Error as error:
        cause = str(error).partition("\n")[0].rstrip(".")
        # It may quote a value of the file, whose control characters could make a terminal show something else.
        cause = "".join(character if character.isprintable() else "?" for character in cause)
        raise CommandError(f"The database failed: {cause}.{more}") from error


def _ask(question: str) -> str:
    if not sys.stdin.isatty():
        raise CommandError(f"Give the passphrase by --passphrase-file, {OR_ITS_FILE}.")
    return getpass(question).strip()
