"""Read the environment variables, and refuse to start on a wrong one with one clear sentence.

A refusal is a SystemExit with status 1: the sentence goes to standard error, without a traceback. It never repeats a
value that may contain a password. All methods of `Environment` and all `check_*` functions raise it.
"""

import os
import re
import unicodedata
from collections.abc import Sequence
from email.errors import ObsoleteHeaderDefect
from email.policy import default as mail_policy
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit, urlunsplit

import dj_database_url
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from environs import Env, EnvError

from nomercy import environment_file
from nomercy.queues import QUEUES

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
SHORTEST_SECRET_KEY = 32
SHORTEST_PASSPHRASE = 12
TOKEN = re.compile(r"[A-Za-z0-9._-]{20,200}")
NUMBER = re.compile(r"[0-9]{1,12}")
HOST_NAME = re.compile(r"[a-z0-9.-]+|\[[a-f0-9:.]+\]", re.IGNORECASE)  # as Django checks the header `Host`
HIGHEST_PORT = 65_535
CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""A line break or another control character, which no setting has."""
BROKER_SOCKET = "redis+socket"
STATIC_FILES = "staticfiles.json"  # as Django calls it
LONGEST_SITE_NAME = 40
LONGEST_ISSUER = 200
LONGEST_TEXT = 100_000
"""The most bytes of a text of the operator, like the imprint."""
MAIL_SCHEMES = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


def refuse(sentence: str) -> NoReturn:
    """Stop the start with this sentence.

    :raises SystemExit: always.
    """
    raise SystemExit(f"No Mercy does not start: {sentence}")


class Environment:
    """The variables of the environment and of the environment file, by name and type. `names` lists those read."""

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
        if CONTROL_CHARACTER.search(value):
            refuse(f"{name} has a line break or another control character.")
        return value

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
        if value not in choices:
            refuse(f"{name} must be one of {', '.join(choices)}.")
        return value

    def words(self, name: str) -> list[str]:
        return [word.strip() for word in self.text(name).split(",") if word.strip()]

    def hosts(self, name: str) -> list[str]:
        """Return names of hosts. One that begins with a dot has all subdomains, and `*` is any host."""
        found = self.words(name)
        for host in found:
            if known := ascii_host(host):
                refuse(f"{name} must be in ASCII: write {known} instead.")
        if any(host != "*" and not HOST_NAME.fullmatch(host.removeprefix(".")) for host in found):
            refuse(f"{name} must be host names without scheme and port, separated by commas.")
        return found

    def address(self, name: str, default: str) -> str:
        """Return the IP address to listen on, or a name of it."""
        value = self.text(name, default)
        try:
            ip_address(value)
        except ValueError:
            if not HOST_NAME.fullmatch(value) or value.startswith("["):
                refuse(f"{name} must be an address of this machine without scheme and port, like 0.0.0.0.")
        return value

    def sender(self, name: str, default: str) -> str:
        """Return the address that mails are from, perhaps with a name."""
        value = self.text(name)
        if not value:
            return default
        header = mail_policy.header_factory("From", value)
        # Obsolete is only a full stop in the name.
        malformed = any(not isinstance(defect, ObsoleteHeaderDefect) for defect in header.defects)
        if malformed or [bool(one.username and one.domain) for one in header.addresses] != [True]:
            refuse(f"{name} must be one address, like cards@example.org or No Mercy <cards@example.org>.")
        return value

    def passphrase(self, name: str) -> str:
        """Return the passphrase of backups. One that is set and empty is refused: backups would be readable."""
        value = self.text(name)
        if not value and any(one in os.environ for one in (name, name + environment_file.FILE)):
            refuse(f"{name} is set and empty. Remove it if backups are not to be encrypted.")
        if value and len(value) < SHORTEST_PASSPHRASE:
            refuse(f"{name} must be at least {SHORTEST_PASSPHRASE} characters long.")
        return value

    def token(self, name: str) -> str:
        """Return a secret that programs send, or ""."""
        value = self.text(name)
        if value and not TOKEN.fullmatch(value):
            refuse(f"{name} must have at least 20 letters, digits, dots, hyphens or underscores, and nothing else.")
        return value

    def sentry(self, name: str) -> str:
        """Return the address to which errors are reported, or ""."""
        value = self.text(name)
        if value:
            from sentry_sdk.utils import BadDsn, Dsn  # noqa: PLC0415  # loaded only where it is used

            try:
                Dsn(value)
            except BadDsn:
                refuse(f"{name} must look like https://key@sentry.example.org/1.")
        return value

    def database(self, name: str) -> dict[str, Any]:
        """Return Django's database settings for a PostgreSQL URL. Empty if it is not set.

        It may have several hosts in the form of libpq, like `h1:5432,h2:5432`.
        """
        value = self.text(name)
        if not value:
            return {}
        try:
            parts = urlsplit(value)
        except ValueError:
            refuse(f"{name} is not a valid URL.")
        if parts.scheme not in ("postgres", "postgresql"):
            refuse(f"{name} must look like postgres://user:password@host:5432/name. No Mercy needs PostgreSQL.")
        user, at, several = parts.netloc.rpartition("@")
        hosts = [_split(f"//{host}", name) for host in several.split(",")]
        try:
            # It reads a URL with one host.
            settings = dict(dj_database_url.parse(urlunsplit(parts._replace(netloc=user + at + hosts[0].netloc))))
        except ValueError:
            settings = {}
        if len(hosts) > 1:
            settings["HOST"] = ",".join(unquote(host.hostname or "") for host in hosts)
            settings["PORT"] = ",".join(str(host.port or "") for host in hosts)
        if not settings.get("NAME"):
            refuse(f"{name} must look like postgres://user:password@host:5432/name.")
        return settings

    def redis(self, name: str) -> str:
        """Return the URL of Redis as redis-py reads it, or "". `broker_url` converts it for Celery.

        A Unix socket may be given in the form of redis-py or of Celery.
        """
        value = self.text(name)
        if not value:
            return ""
        parts = _split(value, name)
        if parts.scheme in ("redis", "rediss") and parts.hostname and re.fullmatch(r"/?|/[0-9]+", parts.path):
            return value
        query = parse_qs(parts.query)
        database = (query.get("db") or query.get("virtual_host") or ["0"])[0]
        is_socket = parts.scheme in ("unix", BROKER_SOCKET) and not parts.hostname and len(parts.path) > 1
        if not is_socket or not database.isdecimal():
            refuse(f"{name} must look like redis://host:6379/0 or unix:///path/redis.sock.")
        return f"unix://{parts.netloc}{parts.path}?db={database}"

    def site(self, name: str, default: str) -> SplitResult:
        """Return the URL of the site, which has a scheme and a host and no path."""
        parts = _split(self.text(name, default), name)
        host = host_of(parts)
        more = parts.path.strip("/") or parts.query or parts.fragment
        just_host = parts.netloc.lower() in (host, f"{host}:{parts.port}")  # no user and password, no colon alone
        if parts.scheme in ("http", "https") and just_host and not more and (known := ascii_host(host)):
            port = "" if parts.port is None else f":{parts.port}"
            refuse(f"{name} must be in ASCII: write {parts.scheme}://{known}{port} instead.")
        if parts.scheme not in ("http", "https") or not HOST_NAME.fullmatch(host) or more or not just_host:
            refuse(f"{name} must be the URL of the site without a path, like https://cards.example.org.")
        return parts

    def mail(self, name: str) -> dict[str, Any]:
        """Return Django's mail settings for an SMTP URL. Empty if it is not set."""
        value = self.text(name)
        if not value:
            return {}
        parts = _split(value, name)
        more = parts.path.strip("/") or parts.query or parts.fragment
        if parts.scheme not in MAIL_SCHEMES or not parts.hostname or more:
            refuse(
                f"{name} must look like smtp+tls://user:password@host:587 (or smtp://, smtps://), with special"
                " characters like %40."
            )
        return {
            "EMAIL_HOST": parts.hostname,
            "EMAIL_PORT": parts.port or MAIL_SCHEMES[parts.scheme],
            "EMAIL_HOST_USER": unquote(parts.username or ""),
            "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
            "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
            "EMAIL_USE_SSL": parts.scheme == "smtps",
        }

    def site_name(self, name: str, default: str) -> str:
        """Return the name of the site. It has a letter, or names of people could not be compared with it."""
        value = self.text(name, default) or default
        if len(value) > LONGEST_SITE_NAME or not any(char.isalpha() for char in value):
            refuse(f"{name} must be a name with a letter and at most {LONGEST_SITE_NAME} characters.")
        return value

    def page_text(self, name: str) -> str:
        """Return the text in the file that a variable names, or ""."""
        path = self.folder(name)
        if path is None:
            return ""
        try:
            content = path.read_bytes()
            if len(content) > LONGEST_TEXT:
                refuse(f"the file of {name} is longer than {LONGEST_TEXT} bytes.")
            text = content.decode("utf-8-sig").strip()
        except UnicodeDecodeError:
            refuse(f"the file of {name} is not a text in UTF-8.")
        except OSError as error:
            refuse(f"the file of {name} cannot be read: {error.strerror}.")
        if not text or "\0" in text:
            refuse(f"the file of {name} {'has a NUL character' if text else 'is empty'}.")
        return text

    def contact(self, name: str) -> str:
        """Return the URL of a contact for `security.txt`, or "". A mail address becomes a `mailto:` URL."""
        value = self.text(name)
        if not value:
            return ""
        if value.startswith("https://") and _split(value, name).hostname and " " not in value:
            return value
        try:
            validate_email(value.removeprefix("mailto:"))
        except ValidationError:
            refuse(f"{name} must be a mail address, or a URL that begins with https://.")
        return f"mailto:{value.removeprefix('mailto:')}"

    def issuer(self, name: str) -> str:
        """Return the issuer of an OpenID provider, letter by letter as given, or "". It has no query and no fragment.

        Identities are stored with it, in a column of allauth with `LONGEST_ISSUER` characters.
        """
        value = self.text(name)
        if not value:
            return ""
        parts = _split(value, name)
        if not value.isascii() or " " in value or not HOST_NAME.fullmatch(host_of(parts)) or "@" in parts.netloc:
            refuse(f"{name} must be a URL without user and password, like https://login.example.org.")
        if parts.query or parts.fragment or len(value) > LONGEST_ISSUER:
            refuse(f"{name} must be a URL without ? and #, and at most {LONGEST_ISSUER} characters long.")
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1")):
            refuse(f"{name} must begin with https, unless the provider is on this machine.")
        return value

    def words_on_button(self, name: str) -> str:
        """Return the name of something as a button shows it, or ""."""
        value = self.text(name)
        if len(value) > LONGEST_SITE_NAME:
            refuse(f"{name} must be a name with at most {LONGEST_SITE_NAME} characters.")
        return value

    def folder(self, name: str) -> Path | None:
        value = self.text(name)
        if value and not Path(value).is_absolute():
            refuse(f"{name} must be an absolute path.")
        return Path(value) if value else None


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
    if missing:
        refuse(f"{missing} is not set. Is the environment of the site loaded (NOMERCY_ENV_FILE)?")


def check_queues(names: Sequence[str]) -> None:
    """Refuse to start a worker for a queue that does not exist."""
    unknown = [name for name in names if name not in QUEUES]
    if unknown:
        refuse(f"there is no queue {unknown[0]!r}. The queues are {', '.join(QUEUES)}.")


def check_secret_key(value: str, *, embedded: bool) -> None:
    """Check the length of `SECRET_KEY`. Only with the embedded PostgreSQL may it be missing: then one is created."""
    if value and len(value) < SHORTEST_SECRET_KEY:
        refuse(f"SECRET_KEY must be at least {SHORTEST_SECRET_KEY} characters long.")
    if not value and not embedded:
        refuse(
            "SECRET_KEY must be set when DATABASE_URL is. Use a long random text, and keep it; to restore a backup, use"
            " that of the backup (docs/operations.md, Restoring)."
        )


def check_secret_key_fallbacks(values: Sequence[str]) -> None:
    """Check that each fallback can have been a `SECRET_KEY`."""
    if any(len(value) < SHORTEST_SECRET_KEY for value in values):
        refuse(
            f"SECRET_KEY_FALLBACKS must be former keys, separated by commas, each at least {SHORTEST_SECRET_KEY}"
            " characters long."
        )


def check_static_files(root: Path | None) -> None:
    """Refuse to serve pages without the list of the files in `STATIC_ROOT`, which every page reads."""
    if root is not None and not (root / STATIC_FILES).is_file():
        refuse(
            f"STATIC_ROOT is {root}, and no static files are there. Run manage.py collectstatic --noinput, or remove"
            " STATIC_ROOT."
        )


def host_of(site: SplitResult) -> str:
    """Return the host as in a `Host` header: in lower case, IPv6 in brackets."""
    host = site.hostname or ""
    return f"[{host}]" if ":" in host else host


def ascii_host(host: str) -> str:
    """Return a host name of letters and digits beyond ASCII as browsers send it, with `xn--`. "" for any other."""
    if host.isascii() or any(char not in ".-" and unicodedata.category(char)[0] not in "LMN" for char in host):
        return ""
    labels = unicodedata.normalize("NFKC", host).lower().split(".")
    return ".".join(one if one.isascii() else f"xn--{one.encode('punycode').decode('ascii')}" for one in labels)


def check_debug(*, debug: bool, site: SplitResult) -> None:
    """Allow `DEBUG` only on this machine, because debug pages show secrets."""
    if debug and host_of(site) not in LOCAL_HOSTS:
        refuse("DEBUG shows secrets on error pages. Use it only with a SITE_URL on this machine.")


def check_hsts(*, subdomains: bool, preload: bool, https: bool) -> None:
    """Check that the settings of HSTS go together. The lists of browsers take no host without its subdomains."""
    if (subdomains or preload) and not https:
        refuse("HSTS_SUBDOMAINS and HSTS_PRELOAD need a SITE_URL that begins with https.")
    if preload and not subdomains:
        refuse("HSTS_PRELOAD needs HSTS_SUBDOMAINS=1.")


def check_access(*, registration: str, guests: bool, login_required: bool, by_members: bool = False) -> None:
    """Check that the settings of access go together. A guest is a user whom a visitor makes with one click."""
    if guests and registration == "closed":
        refuse("REGISTRATION=closed means that nobody becomes a user, but guests are users. Set GUESTS=0 as well.")
    if by_members and registration != "invite":
        refuse(
            f"INVITATIONS=members needs REGISTRATION=invite. It is {registration}, where invitations change nothing."
        )
    if guests and login_required:
        refuse(
            "LOGIN_REQUIRED=1 means that visitors see no tables, but guests begin as visitors. Set GUESTS=0 as well."
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


def _split(value: str, name: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018  # raises ValueError if the port is not a number
    except ValueError:
        refuse(f"{name} is not a valid URL.")
    return parts
