"""The folders with PostgreSQL's data: one for each major version, which no other version can read."""

import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from nomercy.launcher.place import ROLE, EmbeddedError, Place, make_private_folder, private_file, run_and_wait
from nomercy.launcher.programs import Programs, reachable


def folders(place: Place) -> dict[str, Path]:
    """Return the folders of `place` that hold data, by the major version that made it."""
    numbered = [
        folder
        for folder in sorted(place.base.parent.glob(f"{place.base.name}-*"))
        if folder.name.removeprefix(f"{place.base.name}-").isdecimal()
    ]
    # Earlier releases had one folder, without a number. It comes last: of two with the same version it counts.
    return {version: folder for folder in (*numbered, place.base) if (version := version_of(folder))}


def version_of(folder: Path) -> str:
    """Return the major version that made the data in a folder; empty if there is no data."""
    try:
        return (folder / "PG_VERSION").read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def folder_for(place: Place, programs: Programs) -> Path:
    """Return the folder for data of the major version of `programs`; it may not be there yet."""
    version = str(programs.major)
    return folders(place).get(version) or place.base.with_name(f"{place.base.name}-{version}")


def initialise(place: Place, programs: Programs, data: Path) -> None:
    """Run `initdb` beside the final folder, then rename: an interrupted first start leaves nothing half made."""
    fresh = place.beside("new")
    shutil.rmtree(fresh, ignore_errors=True)
    make_private_folder(fresh, place.user)
    initdb = str(reachable(place, programs) / "initdb")
    command = [initdb, "-D", str(fresh), "-U", ROLE, "--auth=trust", "--encoding=UTF8", "--locale=C"]
    command += ["--no-instructions"]
    # Text sorts by code point; capital letters of all languages are known.
    if programs.major >= 17:
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    else:
        command += ["--lc-ctype=C.UTF-8"]
    with open(place.log, "wb", opener=private_file) as log:
        # At SIGQUIT it tidies up after itself; the usual signals are held back at its start, and it never lets them in.
        done = run_and_wait(place, command, log, subprocess.Popen.wait, end_with=signal.SIGQUIT)
    if done != 0:
        raise EmbeddedError(f"PostgreSQL could not make its data folder {data}; see {place.log}.")
    with suppress(FileNotFoundError):
        data.rmdir()  # an empty folder may go; one with other files in it stops us here
    fresh.rename(data)
