"""Fixtures of real servers: the page server, a PostgreSQL of its own and a mail server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from nomercy.launcher.place import Place, place_for
from tests.nomercy.conftest import remove
from tests.support.database import emptied_afterwards
from tests.support.mail import MailServer, serve
from tests.support.web import Site, running_site


@pytest.fixture(scope="module")
def site(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Site]:
    with emptied_afterwards(django_db_blocker), running_site() as site:
        yield site


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Return where a PostgreSQL that a test may kill keeps its data."""
    place = place_for(tmp_path)
    yield place
    remove(place)


@pytest.fixture
def server() -> Iterator[MailServer]:
    """Run a mail server, and let the site send to it."""
    found = MailServer()
    controller = serve(found)
    smtp = "django.core.mail.backends.smtp.EmailBackend"
    with override_settings(EMAIL_BACKEND=smtp, EMAIL_HOST="127.0.0.1", EMAIL_PORT=controller.port):
        yield found
    controller.stop()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out `test_fuzz_api.py` without `--all`: all its tests are long, and its import takes 1.5 s a process."""
    return True if collection_path.name == "test_fuzz_api.py" and not config.getoption("--all") else None
