"""What a backup says about itself: from which site, release and server it is, and the settings of the site."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from django.conf import settings

import nomercy
from nomercy.backup import postgresql
from nomercy.backup.archive import DAMAGED, BackupError
from nomercy.checks import CONTROL_CHARACTER, Environment

KEY: Final = "SECRET_KEY"
SITE_URL: Final = "SITE_URL"
FALLBACKS: Final = "SECRET_KEY_FALLBACKS"
SETTINGS: Final = (
    "ALLOWED_HOSTS", "BEHIND_PROXY", "EMAIL_FROM", "EMAIL_URL", "EMAIL_VERIFICATION", "GUESTS", "HSTS_PRELOAD",
    "HSTS_SUBDOMAINS", "INVITATIONS", "LOGIN_REQUIRED", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_ISSUER",
    "OIDC_NAME", "RATE_LIMITS", "REGISTRATION", FALLBACKS, "SECURITY_CONTACT", "SITE_NAME", SITE_URL,
    "SWEEP_GRACE_SECONDS", "SWEEP_SECONDS", "VACATION_DAYS",
)  # fmt: skip
"""The settings of a site that are kept if they are set, besides its key. Others belong to a machine."""


@dataclass(frozen=True)
class Manifest:
    """What a backup says about itself. `postgresql` is the major version of its server, `tables` their number."""

    version: str
    created: str
    site_url: str
    postgresql: int
    tables: int
    settings: dict[str, str]

    @property
    def made(self) -> str:
        """Return when and by which release it was made."""
        return f"made on {datetime.fromisoformat(self.created):%F %H:%M} UTC by release {self.version}"

    def as_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()


def site_settings() -> dict[str, str]:
    """Return the settings of this site that belong into a backup."""
    environment = Environment()
    own = {KEY: settings.SECRET_KEY}
    return own | {name: value for name in SETTINGS if (value := environment.text(name))}


def of_this_site(*, tables: int, now: datetime) -> Manifest:
    """Return what a backup that is made now says about itself."""
    server = postgresql.major_version()
    return Manifest(nomercy.__version__, now.isoformat(), settings.SITE_URL, server, tables, site_settings())


def read(data: bytes) -> Manifest:
    """Return the manifest that was written as JSON.

    :raises BackupError: it is damaged, has texts that cannot be printed, or other settings than those of a backup.
    """
    try:
        found = Manifest(**json.loads(data))
        datetime.fromisoformat(found.created)
        # Control characters could make a terminal show something else.
        shown, values = found.version + found.created + found.site_url, "".join(found.settings.values())
        (shown + values).encode()  # half of a surrogate pair is an error
        sound = shown.isprintable() and not CONTROL_CHARACTER.search(values)
        sound = sound and {type(found.postgresql), type(found.tables)} == {int}
        # They become environment variables. Another name could run any program as the site.
        sound = sound and {KEY} <= found.settings.keys() <= {KEY, *SETTINGS}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BackupError(DAMAGED) from error
    if not sound:
        raise BackupError(DAMAGED)
    return found


def as_environment_file(chosen: Mapping[str, str]) -> str:
    """Return settings as an environment file, of which a shell that reads it runs no part.

    A setting of which only a part is safe from a shell is a comment (see `in_comments`).

    :param chosen: values without control characters.
    """
    return "".join(f"{'# ' * _is_unsafe(value)}{name}={_quoted(value)}\n" for name, value in sorted(chosen.items()))


def in_comments(chosen: Mapping[str, str]) -> list[str]:
    """Return the names of the settings that no quotes keep safe from a shell."""
    return sorted(name for name, value in chosen.items() if _is_unsafe(value))


def _is_unsafe(value: str) -> bool:
    # In a shell, single quotes cannot hold the former, and in double quotes it would run the latter.
    return bool({"'", "\\"} & set(value) and {"$", "`"} & set(value))


def _quoted(value: str) -> str:
    if _is_unsafe(value):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    if "'" in value or "\\" in value:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"'{value}'"
