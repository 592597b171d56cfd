"""Read settings from the environment file, and secrets from files of their own. docs/operations.md has the format.

Nothing in a file is evaluated as a shell would do it. Sentences about a file never repeat a value.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Final

from dotenv.parser import parse_stream

from nomercy.launcher.place import CHECKOUT

NAME: Final = "NOMERCY_ENV_FILE"
DEFAULT: Final = CHECKOUT / "local.env"
SECRETS: Final = frozenset(
    {"BACKUP_PASSPHRASE", "DATABASE_URL", "EMAIL_URL", "REDIS_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS"}
)
"""The variables that may hold a secret. Each can also be given as the path of a file, in the variable with `_FILE`."""
FILE: Final = "_FILE"
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UnusableFileError(Exception):
    """A file of settings cannot be used. The message is a clause without a full stop."""


def load() -> None:
    """Set the variables of the environment file that are not set yet, once for this process and its children.

    The file is the one that `NOMERCY_ENV_FILE` names, else `DEFAULT` if it exists. An empty `NOMERCY_ENV_FILE` means
    that no file is read. A secret that is set in the environment, as itself or as a file, wins over both forms in the
    file.

    :raises UnusableFileError: the file cannot be read, or a line of it is malformed.
    """
    named = os.environ.get(NAME)
    if named == "" or (named is None and not DEFAULT.exists()):
        return
    path = Path(named) if named else DEFAULT
    if not path.is_absolute():
        raise UnusableFileError(f"{NAME} must be an absolute path")
    given = set(os.environ)
    found = dict(_variables(path))
    for name, value in found.items():
        other = name.removesuffix(FILE) if name.endswith(FILE) else name + FILE
        if name not in given and not ({name, other} & SECRETS and other in given):
            os.environ[name] = value
    os.environ[NAME] = ""  # the children of this process inherit the variables
    if SECRETS & set(found) and path.stat().st_mode & stat.S_IROTH:
        sys.stderr.write(f"{path} has secrets, and every user of this machine can read it. Run: chmod o-r {path}\n")


def secret(name: str) -> str:
    """Return the secret of a variable, or of the file that the variable with `_FILE` names. "" if neither is set.

    :raises UnusableFileError: both are set, or the file cannot be used.
    """
    path = os.environ.get(name + FILE, "")
    if not path:
        return os.environ.get(name, "")
    if os.environ.get(name):
        raise UnusableFileError(f"{name} and {name}{FILE} are both set; set one of them")
    if not Path(path).is_absolute():  # perhaps it is the secret itself, so it is not repeated
        raise UnusableFileError(f"{name}{FILE} must be an absolute path")
    text = _text(Path(path), f"the file of {name}{FILE}").removesuffix("\n").removesuffix("\r")
    if not text.strip():
        raise UnusableFileError(f"the file of {name}{FILE} is empty")
    if len(text.splitlines()) > 1 or "\0" in text:
        raise UnusableFileError(f"the file of {name}{FILE} must have one line")
    return text


def _variables(path: Path) -> Iterator[tuple[str, str]]:
    for line in parse_stream(StringIO(_text(path, str(path)))):
        if line.key is None and not line.error:
            continue  # a comment or an empty line
        if line.error or not VARIABLE.fullmatch(line.key or "") or line.value is None or "\0" in line.value:
            string, number = line.original  # the string begins with the empty lines before it
            number += string[: len(string) - len(string.lstrip())].count("\n")
            raise UnusableFileError(f"{path}, line {number}, is not NAME=value")
        assert line.key is not None
        yield line.key, line.value


def _text(path: Path, shown: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UnusableFileError(f"{shown} is not a text in UTF-8") from None
    except OSError as error:
        raise UnusableFileError(f"{shown} cannot be read: {error.strerror}") from None
