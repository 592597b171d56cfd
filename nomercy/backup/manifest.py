"""The first part of a backup: what is in it, and from which site and release."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from django.conf import settings

import nomercy
from nomercy.backup.archive import DAMAGED, parts
from nomercy.backup.encryption import BackupError
from nomercy.checks import CONTROL_CHARACTER, Environment

FORMAT: Final = 1
LARGEST: Final = 1024 * 1024
NAME: Final = "manifest.json"
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
    """What a backup holds. `migrations` are pairs of app and name, `tables` have the columns in their order.

    `sequences` have, for a table and column, the last value and whether it was used.
    """

    version: str
    created: str
    site_url: str
    postgresql: int
    migrations: list[tuple[str, str]]
    tables: dict[str, list[str]]
    sequences: list[tuple[str, str, int, bool]]
    settings: dict[str, str]
    format: int = FORMAT

    def as_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @property
    def made(self) -> str:
        """Return when and by which release it was made."""
        return f"made on {datetime.fromisoformat(self.created):%F %H:%M} UTC by release {self.version}"


def site_settings() -> dict[str, str]:
    """Return the settings of this site that belong into a backup."""
    environment = Environment()
    own = {KEY: settings.SECRET_KEY}
    return own | {name: value for name in SETTINGS if (value := environment.text(name))}


def read(path: Path, *, passphrase: str) -> tuple[Manifest, Iterator[tuple[str, bytes]]]:
    """Return the manifest of a backup, and an iterator of its other parts.

    :raises BackupError: it is of another format, damaged or cut off, or the passphrase is wrong.
    :raises OSError: it cannot be read.
    """
    others = parts(path, passphrase=passphrase)
    name, data = next(others, ("", b""))
    if name != NAME or len(data) > LARGEST:
        raise BackupError(DAMAGED)
    try:
        found = json.loads(data)
        number = found["format"]
        if isinstance(number, int) and number != FORMAT:  # the sentence shows no text of the file
            raise BackupError(f"The backup has format {number}, and release {nomercy.__version__} reads only {FORMAT}.")
        found["migrations"] = [(app, name) for app, name in found["migrations"]]
        manifest = Manifest(**found)
        sound = _is_sound(manifest)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BackupError(DAMAGED) from error
    if not sound:
        raise BackupError(DAMAGED)
    return manifest, others


def _is_sound(manifest: Manifest) -> bool:
    """Return True if the types are right, texts can be printed, and the settings are those of a backup.

    Other wrong manifests raise one of the errors that `read` catches. The settings become environment variables.
    Another name there could run any program as the site.
    """
    datetime.fromisoformat(manifest.created)
    # Control characters could make a terminal show something else.
    shown: list[object] = [manifest.version, manifest.created, manifest.site_url, *manifest.tables]
    shown += [name for columns in manifest.tables.values() for name in columns]
    shown += [name for migration in manifest.migrations for name in migration]
    if manifest.format != FORMAT or not all(isinstance(text, str) and text.isprintable() for text in shown):
        return False
    if not {KEY} <= manifest.settings.keys() <= {KEY, *SETTINGS}:
        return False
    types = {tuple(map(type, sequence)) for sequence in manifest.sequences}
    values = "".join(manifest.settings.values())
    values.encode()  # half of a surrogate pair is an error
    return types <= {(str, str, int, bool)} and not CONTROL_CHARACTER.search(values)


def verify(path: Path, *, passphrase: str) -> Manifest:
    """Read a backup to its end and return its manifest.

    :raises BackupError: as `read`.
    :raises OSError: as `read`.
    """
    manifest, others = read(path, passphrase=passphrase)
    for _ in others:
        pass
    return manifest


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
