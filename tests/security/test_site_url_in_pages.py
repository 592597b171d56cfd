"""No page contains the Host header of its request: links are paths, or begin with `SITE_URL`."""

from __future__ import annotations

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from tests.security.urls import addresses
from tests.security.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.more]
READERS = ("seated", "anonymous", "moderator", "admin")


@pytest.mark.parametrize("reader", READERS)
def test_no_page_links_to_the_host_of_its_request(settings: Settings, reader: str) -> None:
    settings.SITE_URL = "https://cards.example.org"
    settings.ALLOWED_HOSTS = ["cards.example.org", "other.example"]
    world, pages = World(), 0
    for address in addresses():
        with transaction.atomic():
            answer = world.browsers[reader].get(world.url(address), headers={"host": "other.example:6666"})
            text = b"" if answer.streaming else answer.content
            transaction.set_rollback(True)
        assert b"other.example" not in text, f"{address.key} as {reader}"
        assert b"6666" not in text, f"{address.key} as {reader}"
        assert "6666" not in answer.headers.get("Location", ""), f"{address.key} as {reader}"
        pages += answer.status_code == 200
    assert pages > 20
