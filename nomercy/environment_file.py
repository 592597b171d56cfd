"""Read settings from the environment file, and secrets from files of their own. docs/settings.md has the format.

Nothing in a file is evaluated as a shell would do it. Sentences about a file never repeat a value.
"""

import os
import re
import stat
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Final

from dotenv.parser import parse_stream

from nomercy.launcher.place import CHECKOUT

NAME: Final = "NOMERCY_ENV_FILE"
DEFAULT: Final = CHECKOUT / "local.env"
SECRETS: Final = frozenset(
    (
        "BACKUP_PASSPHRASE", "DATABASE_URL", "EMAIL_URL", "METRICS_TOKEN", "OIDC_CLIENT_SECRET", "REDIS_URL",
        "SECRET_KEY", "SECRET_KEY_FALLBACKS", "SENTRY_DSN",
    )
)  # fmt: skip
"""The variables that may hold a secret. Each can also be given as the path of a file, in the variable with `_FILE`."""
FILE: Final = "_FILE"
SETTINGS: Final = SECRETS | {
    "ALLOWED_HOSTS", "BEHIND_PROXY", "CONTACT_TEXT", "DEBUG", "EMAIL_FROM", "EMAIL_VERIFICATION", "GUESTS", "HOST",
    "HSTS_PRELOAD", "HSTS_SUBDOMAINS", "IDLE_TRANSACTION_TIMEOUT_MS", "IMPRINT_TEXT", "INVITATIONS", "LOGIN_REQUIRED",
    "LOG_FORMAT", "LOG_LEVEL", "OIDC_CLIENT_ID", "OIDC_ISSUER", "OIDC_NAME", "OUTGOING", "OUTGOING_ALLOW", "PORT",
    "POSTGRES", "PRIVACY_TEXT", "RATE_LIMITS", "REGISTRATION", "SECURITY_CONTACT", "SITE_NAME", "SITE_URL",
    "STATEMENT_TIMEOUT_MS", "STATIC_ROOT", "SWEEP_GRACE_SECONDS", "SWEEP_SECONDS", "VACATION_DAYS",
    "WEB_CONCURRENCY",
}  # fmt: skip
"""Every variable that the site reads, without those with `_FILE`."""
OF_POSTGRESQL: Final = "PG"
"""How the variables of PostgreSQL's own client library begin, like `PGPASSWORD`. They may be in the file, too."""
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OPEN_QUOTE: Final = re.compile(r"""[^=]*=\s*(?:'(?:\\.|[^'\\])*|"(?:\\.|[^"\\])*)\\?""")
"""A line whose value begins with a quote that the line does not close."""
COMMENT: Final = re.compile(r"""[^=]*=\s*[^'"\s].*\s#""")
"""A line with a comment after a value without quotes. The comment may have been meant as a part of the value."""


class UnusableFileError(Exception):
    """A file of settings cannot be used. The message is a clause without a full stop."""


def load() -> None:
    """Set the variables of the environment file that are not set yet, once for this process and its children.

    The file is the one that `NOMERCY_ENV_FILE` names, else `DEFAULT` if it exists. An empty `NOMERCY_ENV_FILE` means
    that no file is read. A secret that is set in the environment, as itself or as a file, wins over both forms in the
    file.

    :raises UnusableFileError: the file cannot be read, or a line of it is malformed, sets what is not a setting, or
        sets what an earlier line has set.
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
    lines: dict[str, int] = {}
    for line in parse_stream(StringIO(_text(path, str(path)))):
        if line.key is None and not line.error:
            continue  # a comment or an empty line
        string, number = line.original  # the string begins with the empty lines before it
        number += string[: len(string) - len(string.lstrip())].count("\n")
        where = f"{path}, line {number},"
        if OPEN_QUOTE.fullmatch(string.strip().splitlines()[0]):
            raise UnusableFileError(f"{where} has a quote that is not closed in that line")
        if line.error or not VARIABLE.fullmatch(line.key or "") or line.value is None or "\0" in line.value:
            raise UnusableFileError(f"{where} is not NAME=value")
        assert line.key is not None
        if line.key in lines:
            raise UnusableFileError(f"{where} sets {line.key}, which line {lines[line.key]} has set already")
        _require_known(line.key, where)
        if line.key in SECRETS and COMMENT.match(string.strip().splitlines()[0]):
            raise UnusableFileError(f"{where} has a comment after a value without quotes; put the value in quotes")
        lines[line.key] = number
        yield line.key, line.value


def _require_known(name: str, where: str) -> None:
    """Refuse a name that is not of a setting. It is repeated only if it is like one: it may be a part of a secret.

    :raises UnusableFileError: nothing reads a variable of this name.
    """
    known = SETTINGS | {name + FILE for name in SECRETS}
    if name in known or name.startswith(OF_POSTGRESQL):
        return
    if closest := get_close_matches(name.upper(), sorted(known), n=1):
        raise UnusableFileError(f"{where} sets {name}, which is not a setting; the closest one is {closest[0]}")
    raise UnusableFileError(f"{where} sets something that is not a setting; docs/settings.md lists all")


def _text(path: Path, shown: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UnusableFileError(f"{shown} is not a text in UTF-8") from None
    except OSError as error:
        raise UnusableFileError(f"{shown} cannot be read: {error.strerror}") from None
