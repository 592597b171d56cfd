"""The site under gunicorn, and a PostgreSQL of its own, for tests that need real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from nomercy.place import Place, place_for
from tests.nomercy.conftest import remove
from tests.support.web import Site, running_site


@pytest.fixture(scope="module")
def site(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Site]:
    with django_db_blocker.unblock(), running_site() as site:
        yield site


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Where a PostgreSQL lives that a test may kill: no other test uses it."""
    place = place_for(tmp_path)
    yield place
    remove(place)
