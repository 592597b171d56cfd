"""Read the environment variables, and refuse to start on a wrong one with one clear sentence.

A refusal is a SystemExit with status 1: the sentence goes to standard error, without a traceback. It never repeats a
value that may contain a password. All methods of `Environment` and all `check_*` functions raise it.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.errors import ObsoleteHeaderDefect
from email.policy import default as mail_policy
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit, urlunsplit

import dj_database_url
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from environs import Env, EnvError

from nomercy import environment_file
from nomercy.queues import QUEUES

T = TypeVar("T")
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
SHORTEST_SECRET_KEY = 32
SHORTEST_PASSPHRASE = 12
NUMBER = re.compile(r"[0-9]{1,12}")
HOST_NAME = re.compile(r"[a-z0-9.-]+|\[[a-f0-9:.]+\]", re.IGNORECASE)  # as Django checks the header `Host`
HIGHEST_PORT = 65_535
CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""A line break or another control character, which no setting has."""
BROKER_SOCKET = "redis+socket"
STATIC_FILES = "staticfiles.json"  # as Django calls it
LONGEST_NAME = 40
LONGEST_ISSUER = 200
"""The characters of allauth's column that stores the issuer of an identity."""
LONGEST_TEXT = 100_000
"""The most bytes of a text of the operator, like the imprint."""
MAIL_SCHEMES = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def refuse(sentence: str) -> NoReturn:
    """Stop the start with this sentence.

    :raises SystemExit: always.
    """
    raise SystemExit(f"No Mercy does not start: {sentence}")


def refuse_if(wrong: object, sentence: str) -> None:
    """Stop the start with this sentence if `wrong` is true.

    :raises SystemExit: it is.
    """
    if wrong:
        refuse(sentence)


@dataclass(frozen=True)
class SettingKind(Generic[T]):
    """What a setting must be. `read` makes its value of the text, or raises ValueError. `unset` is that of no text."""

    read: Callable[[str], T]
    unset: T
    must: str
    """What the refusal says after the name and "must"."""


def _require(*conditions: object) -> None:
    """Raise ValueError unless all conditions are true."""
    if not all(conditions):
        raise ValueError


def _split(value: str) -> SplitResult:
    parts = urlsplit(value)
    parts.port  # noqa: B018  # raises ValueError if it is not a number
    return parts


def _address(value: str) -> str:
    if not HOST_NAME.fullmatch(value) or value.startswith("["):
        ip_address(value)
    return value


def _site(value: str) -> SplitResult:
    parts = _split(value)
    host = host_of(parts)
    _require(parts.scheme in ("http", "https"), HOST_NAME.fullmatch(host))
    _require(parts.netloc.lower() in (host, f"{host}:{parts.port}"))  # no user and password, no colon alone
    _require(not parts.path.strip("/"), not parts.query, not parts.fragment)
    return parts


def _hosts(value: str) -> list[str]:
    found = _words(value)
    _require(*(host == "*" or HOST_NAME.fullmatch(host.removeprefix(".")) for host in found))
    return found


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def _networks(value: str) -> list[IPv4Network | IPv6Network]:
    return [ip_network(word) for word in _words(value)]


def _keys(value: str) -> list[str]:
    return [_key(word) for word in _words(value)]


def _key(value: str) -> str:
    _require(len(value) >= SHORTEST_SECRET_KEY)
    return value


def _sender(value: str) -> str:
    header = mail_policy.header_factory("From", value)
    # Obsolete is only a full stop in the name.
    _require(*(isinstance(defect, ObsoleteHeaderDefect) for defect in header.defects))
    _require([bool(one.username and one.domain) for one in header.addresses] == [True])
    return value


def _contact(value: str) -> str:
    """Return the URL of a contact. A mail address becomes a `mailto:` URL."""
    if value.startswith("https://"):
        _require(_split(value).hostname, " " not in value)
        return value
    try:
        validate_email(value.removeprefix("mailto:"))
    except ValidationError as error:
        raise ValueError from error
    return f"mailto:{value.removeprefix('mailto:')}"


def _issuer(value: str) -> str:
    """Return the issuer letter by letter as given: identities are stored with it."""
    parts = _split(value)
    _require(value.isascii(), " " not in value, HOST_NAME.fullmatch(host_of(parts)), "@" not in parts.netloc)
    _require(not parts.query, not parts.fragment, len(value) <= LONGEST_ISSUER)
    _require(parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOCAL_HOSTS))
    return value


def _name(value: str) -> str:
    _require(len(value) <= LONGEST_NAME, any(char.isalpha() for char in value))
    return value


def _token(value: str) -> str:
    _require(re.fullmatch(r"[A-Za-z0-9._-]{20,200}", value))
    return value


def _sentry(value: str) -> str:
    from sentry_sdk.utils import Dsn  # noqa: PLC0415  # loaded only where it is used

    Dsn(value)  # BadDsn is a ValueError
    return value


def _folder(value: str) -> Path:
    _require(Path(value).is_absolute())
    return Path(value)


def _database(value: str) -> dict[str, Any]:
    """Return Django's settings for a PostgreSQL URL. It may have several hosts in the form of libpq: `h1:1,h2:2`."""
    parts = urlsplit(value)
    user, at, several = parts.netloc.rpartition("@")
    hosts = [_split(f"//{host}") for host in several.split(",")]
    # It reads a URL with one host.
    settings = dict(dj_database_url.parse(urlunsplit(parts._replace(netloc=user + at + hosts[0].netloc))))
    _require(parts.scheme in ("postgres", "postgresql"), settings.get("NAME"))
    if len(hosts) > 1:
        settings["HOST"] = ",".join(unquote(host.hostname or "") for host in hosts)
        settings["PORT"] = ",".join(str(host.port or "") for host in hosts)
    return settings


def _redis(value: str) -> str:
    """Return the URL of Redis as redis-py reads it. A Unix socket may be given in its form or in Celery's."""
    parts = _split(value)
    if parts.scheme in ("redis", "rediss"):
        _require(parts.hostname, re.fullmatch(r"/?|/[0-9]+", parts.path))
        return value
    query = parse_qs(parts.query)
    database = (query.get("db") or query.get("virtual_host") or ["0"])[0]
    _require(parts.scheme in ("unix", BROKER_SOCKET), not parts.hostname, len(parts.path) > 1, database.isdecimal())
    return f"unix://{parts.netloc}{parts.path}?db={database}"


def _mail(value: str) -> dict[str, Any]:
    """Return Django's mail settings for an SMTP URL."""
    parts = _split(value)
    _require(parts.scheme in MAIL_SCHEMES, parts.hostname)
    _require(not parts.path.strip("/"), not parts.query, not parts.fragment)
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or MAIL_SCHEMES[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }


ADDRESS = SettingKind(_address, "", "be an address of this machine without scheme and port, like 0.0.0.0")
SITE = SettingKind(
    _site, urlsplit(""), "be the URL of the site without a path, like https://cards.example.org (letters as xn--…)"
)
HOSTS = SettingKind[list[str]](
    _hosts, [], "be host names without scheme and port, separated by commas (other letters as xn--…)"
)
NETWORKS = SettingKind[list[IPv4Network | IPv6Network]](
    _networks, [], "be addresses or networks, separated by commas, like 127.0.0.1,10.0.0.0/8"
)
KEY = SettingKind(_key, "", f"be at least {SHORTEST_SECRET_KEY} characters long")
FALLBACKS = SettingKind[list[str]](
    _keys, [], f"be former keys, separated by commas, each at least {SHORTEST_SECRET_KEY} characters long"
)
SENDER = SettingKind(_sender, "", "be one address, like cards@example.org or No Mercy <cards@example.org>")
CONTACT = SettingKind(_contact, "", "be a mail address, or a URL that begins with https://")
ISSUER = SettingKind(
    _issuer,
    "",
    "be a URL like https://login.example.org, without user, password, ? and #, and at most"
    f" {LONGEST_ISSUER} characters long. Only a provider on this machine may have http",
)
NAME = SettingKind(_name, "", f"be a name with a letter and at most {LONGEST_NAME} characters")
TOKEN = SettingKind(_token, "", "have at least 20 letters, digits, dots, hyphens or underscores, and nothing else")
SENTRY = SettingKind(_sentry, "", "look like https://key@sentry.example.org/1")
FOLDER = SettingKind[Path | None](_folder, None, "be an absolute path")
DATABASE = SettingKind[dict[str, Any]](
    _database, {}, "look like postgres://user:password@host:5432/name. No Mercy needs PostgreSQL"
)
REDIS = SettingKind(_redis, "", "look like redis://host:6379/0 or unix:///path/redis.sock")
MAIL = SettingKind[dict[str, Any]](
    _mail,
    {},
    "look like smtp+tls://user:password@host:587 (or smtp://, smtps://), with special characters like %40",
)


class Environment:
    """The variables of the environment and of the environment file, by name and kind. `names` lists those read."""

    def __init__(self) -> None:
        try:
            environment_file.load()
        except environment_file.UnusableFileError as error:
            refuse(f"{error}.")
        self._env = Env()
        self.names: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        self.names.append(name)
        if name in environment_file.SECRETS:
            try:
                value = environment_file.secret(name).strip() or default
            except environment_file.UnusableFileError as error:
                refuse(f"{error}.")
        else:
            value = self._env.str(name, default).strip()
        refuse_if(CONTROL_CHARACTER.search(value), f"{name} has a line break or another control character.")
        return value

    def get(self, name: str, kind: SettingKind[T], default: str = "") -> T:
        """Return the value of a setting of this kind. `default` is a text, too."""
        value = self.text(name, default)
        if not value and not default:
            return kind.unset
        try:
            return kind.read(value)
        except ValueError:
            refuse(f"{name} must {kind.must}.")

    def flag(self, name: str, *, default: bool = False) -> bool:
        self.names.append(name)
        try:
            return self._env.bool(name, default)
        except EnvError:
            refuse(f"{name} must be 1 or 0.")

    def number(self, name: str, default: int, *, lowest: int = 0, highest: int) -> int:
        self.names.append(name)
        value = self._env.str(name, str(default)).strip()
        if not NUMBER.fullmatch(value) or not lowest <= int(value) <= highest:
            refuse(f"{name} must be a whole number from {lowest} to {highest}.")
        return int(value)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """Return one of `choices`. The first is the default."""
        value = self.text(name, choices[0])
        refuse_if(value not in choices, f"{name} must be one of {', '.join(choices)}.")
        return value

    def passphrase(self, name: str) -> str:
        """Return the passphrase of backups. One that is set and empty is refused: backups would be readable."""
        value = self.text(name)
        is_set = any(one in os.environ for one in (name, name + environment_file.FILE))
        refuse_if(is_set and not value, f"{name} is set and empty. Remove it if backups are not to be encrypted.")
        too_short = value and len(value) < SHORTEST_PASSPHRASE
        refuse_if(too_short, f"{name} must be at least {SHORTEST_PASSPHRASE} characters long.")
        return value

    def database(self, name: str) -> dict[str, Any]:
        """Return Django's settings for the URL of PostgreSQL in this variable. Empty if it is not set."""
        return self.get(name, DATABASE)

    def redis(self, name: str) -> str:
        """Return the URL of Redis as redis-py reads it, or "". `broker_url` converts it for Celery."""
        return self.get(name, REDIS)

    def page_text(self, name: str) -> str:
        """Return the text in the file that a variable names, or ""."""
        path = self.get(name, FOLDER)
        if path is None:
            return ""
        try:
            content = path.read_bytes()
            text = content.decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            refuse(f"the file of {name} is not a text in UTF-8.")
        except OSError as error:
            refuse(f"the file of {name} cannot be read: {error.strerror}.")
        refuse_if(len(content) > LONGEST_TEXT, f"the file of {name} is longer than {LONGEST_TEXT} bytes.")
        refuse_if(not text or "\0" in text, f"the file of {name} {'has a NUL character' if text else 'is empty'}.")
        return text


def broker_url(redis_url: str) -> str:
    """Return the URL of Redis as Celery reads it. Its form differs for a Unix socket."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    return f"{BROKER_SOCKET}://{parts.netloc}{parts.path}?{parts.query.replace('db=', 'virtual_host=')}"


def check_services_given(*, embedded: bool, redis_url: str | None = None) -> None:
    """Refuse to start one of several processes of a site without the services that they share.

    :param embedded: whether no PostgreSQL is given.
    :param redis_url: the URL of Redis, or None for a process that works without it.
    """
    missing = "DATABASE_URL" if embedded else "REDIS_URL" if redis_url == "" else ""
    refuse_if(missing, f"{missing} is not set. Is the environment of the site loaded (NOMERCY_ENV_FILE)?")


def check_queues(names: Sequence[str]) -> None:
    """Refuse to start a worker for a queue that does not exist."""
    unknown = [name for name in names if name not in QUEUES]
    refuse_if(unknown, f"there is no queue {', '.join(map(repr, unknown))}. The queues are {', '.join(QUEUES)}.")


def check_static_files(root: Path | None) -> None:
    """Refuse to serve pages without the list of the files in `STATIC_ROOT`, which every page reads."""
    refuse_if(
        root is not None and not (root / STATIC_FILES).is_file(),
        f"STATIC_ROOT is {root}, and no static files are there. Run manage.py collectstatic --noinput, or remove"
        " STATIC_ROOT.",
    )


def check_openid(*, issuer: str, client_id: str, secret: str, name: str) -> None:
    """Check that the settings of the OpenID provider are all there, or none of them."""
    given = {"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": client_id, "OIDC_CLIENT_SECRET": secret}
    missing = [variable for variable, value in given.items() if not value]
    if missing and (len(missing) < len(given) or name):
        refuse(
            f"{missing[0]} is not set. Logging in with an OpenID provider needs OIDC_ISSUER, OIDC_CLIENT_ID and"
            " OIDC_CLIENT_SECRET."
        )


def host_of(site: SplitResult) -> str:
    """Return the host as in a `Host` header: in lower case, IPv6 in brackets."""
    host = site.hostname or ""
    return f"[{host}]" if ":" in host else host
