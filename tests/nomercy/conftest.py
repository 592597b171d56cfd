"""A place for an embedded server of each test, a checkout, and the log."""

import io
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from nomercy.checks import Environment
from nomercy.launcher.place import CHECKOUT, Place, folder_for, folders, place_for
from nomercy.launcher.postgres import running, server_at
from nomercy.launcher.programs import choose, wanted_source
from tests.support.logs import logging_as_on_a_site

SITE = ("accounts", "common", "games", "mail", "manage.py", "nomercy", "script", "static", "templates")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Where a checkout in `tmp_path` keeps its server; nothing is there yet."""
    place = place_for(tmp_path)
    yield place
    remove(place)


@pytest.fixture(scope="session")
def initialised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place whose server has run before."""
    place = place_for(tmp_path_factory.mktemp("checkout"))
    with running(place):
        pass
    yield place
    remove(place)


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A new checkout in a private folder. Its server is stopped and deleted afterwards."""
    tmp_path.chmod(0o700)
    folder = tmp_path / "no mercy"
    folder.mkdir()
    for name in SITE:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy2(source, folder / name)
    yield folder
    remove(place_for(folder))


@pytest.fixture
def log_of_a_site() -> Iterator[None]:
    with logging_as_on_a_site():
        yield


def written_log(monkeypatch: pytest.MonkeyPatch, fresh: logging.Filter) -> io.StringIO:
    """Return what the site's handler writes, with this filter in place of its own of the same class."""
    formatter = structlog.stdlib.ProcessorFormatter
    (handler,) = [one for one in logging.getLogger().handlers if isinstance(one.formatter, formatter)]
    assert [type(one) for one in handler.filters].count(type(fresh)) == 1
    filters = [fresh if type(one) is type(fresh) else one for one in handler.filters]
    monkeypatch.setattr(handler, "filters", filters)
    stream = io.StringIO()
    monkeypatch.setattr(handler, "stream", stream)
    return stream


def pid_of(place: Place) -> int | None:
    """Return the process id of the server that runs at this place, or None."""
    server = server_at(place)
    return server.pid if server else None


def data_of(place: Place) -> Path:
    """Return the folder of the data that a start at this place uses; it may not be there yet."""
    return folder_for(place, choose(wanted_source(Environment()), folders(place))[0].major)


def remove(place: Place) -> None:
    """Stop what a failed test left running, and leave no file."""
    if server_at(place):
        with running(place):
            pass
    for path in place.base.parent.glob(f"{place.base.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
