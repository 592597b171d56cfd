"""The data folders of PostgreSQL, one for each major version. No other version can read it."""

import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from nomercy.launcher.place import (
    ROLE,
    EmbeddedError,
    Place,
    make_private_folder,
    private_file,
    run_and_wait,
    secret_key,
)
from nomercy.launcher.programs import Programs, reachable


def folders(place: Place) -> dict[str, Path]:
    """Return the folders of `place` that hold data, by the major version that made it."""
    numbered = [
        folder
        for folder in sorted(place.base.parent.glob(f"{place.base.name}-*"))
        if folder.name.removeprefix(f"{place.base.name}-").isdecimal()
    ]
    # Earlier releases had one folder without a number. It comes last, so it wins if both have the same version.
    return {version: folder for folder in (*numbered, place.base) if (version := version_of(folder))}


def of_others(place: Place) -> list[Path]:
    """Return the folders in which a start by other users has made data. The current user may not be able to read it."""
    if place.others is None:
        return []
    numbered = place.others.parent.glob(f"{place.others.name}-*")
    found = [folder for folder in sorted(numbered) if folder.name.rpartition("-")[2].isdecimal()]
    return [folder for folder in (*found, place.others) if folder.is_dir()]


def version_of(folder: Path) -> str:
    """Return the major version of the data in a folder, or "" if there is no data."""
    try:
        return (folder / "PG_VERSION").read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def folder_for(place: Place, programs: Programs) -> Path:
    """Return the data folder for the major version of `programs`. It may not exist yet."""
    version = str(programs.major)
    return folders(place).get(version) or place.base.with_name(f"{place.base.name}-{version}")


def kept_secret_key(place: Place) -> str:
    """Return the stored `SECRET_KEY`. It is made before the data; a later one would not be that of the data.

    :raises EmbeddedError: there is data, but no key.
    """
    found = folders(place)  # read first, because another start may be making both
    path = place.beside("secret_key")
    if found and not path.exists():
        raise EmbeddedError(
            f"The secret key of the data in {' and '.join(map(str, found.values()))} is lost: there is no {path}, and"
            " SECRET_KEY is not set. With another key everybody is logged out, links in sent mails are invalid, and"
            " second factors cannot be read. Put the file back, or get SECRET_KEY out of a backup: manage.py"
            " verify_backup FILE --write-settings NEW_FILE. To start with another key all the same, set SECRET_KEY to"
            " a long random text."
        )
    return secret_key(place)


def initialise(place: Place, programs: Programs, data: Path) -> None:
    """Create the data folder. It is made under another name and renamed, so that it is never incomplete.

    :raises EmbeddedError: `initdb` failed.
    :raises OSError: `data` exists and has files in it.
    """
    fresh = place.beside("new")
    shutil.rmtree(fresh, ignore_errors=True)
    make_private_folder(fresh, place.user)
    initdb = str(reachable(place, programs) / "initdb")
    command = [initdb, "-D", str(fresh), "-U", ROLE, "--auth=trust", "--encoding=UTF8", "--locale=C"]
    command += ["--no-instructions"]
    # Text sorts by code point; upper and lower case work in all languages.
    if programs.major >= 17:
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    else:
        command += ["--lc-ctype=C.UTF-8"]
    with open(place.log, "wb", opener=private_file) as log:
        # `initdb` cleans up at SIGQUIT. It inherits the blocked stop signals and never unblocks them.
        done = run_and_wait(place, command, log, subprocess.Popen.wait, end_with=signal.SIGQUIT)
    if done != 0:
        raise EmbeddedError(f"PostgreSQL could not make its data folder {data}; see {place.log}.")
    with suppress(FileNotFoundError):
        data.rmdir()  # fails if there are other files in it
    fresh.rename(data)
