"""The manifest, the service worker and the offline page, without a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client

from games.web.installed_app import OF_OFFLINE_PAGE
from tests.support.pages import Page

pytestmark = pytest.mark.django_db


def worker(client: Client) -> tuple[str, list[str]]:
    """Return the name of the worker's cache, and the files that it stores when it is installed."""
    found = re.search(r"^const .* = ({.*});$", client.get("/service-worker.js").content.decode(), re.MULTILINE)
    assert found is not None
    read = json.loads(found[1])
    assert read["offline"] == "/offline/"
    return read["cache"], read["files"]


def test_the_manifest_has_the_name_of_the_site_and_icons_of_the_stated_size(client: Client, settings: Any) -> None:
    settings.SITE_NAME = "Cards & Co."
    answer = client.get("/manifest.webmanifest")
    assert answer["Content-Type"] == "application/manifest+json"
    manifest = answer.json()
    assert (manifest["name"], manifest["short_name"]) == ("Cards & Co.", "Cards & Co.")
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("/", "/", "standalone")
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    for icon in manifest["icons"]:
        assert png_size(icon["src"]) == icon["sizes"]


def png_size(address: str) -> str:
    """Return the size that the header of a PNG states, like 192x192."""
    file = finders.find(address.removeprefix("/static/"))
    assert file is not None
    with Path(file).open("rb") as png:
        start = png.read(24)
    assert start.startswith(b"\x89PNG")
    return f"{int.from_bytes(start[16:20])}x{int.from_bytes(start[20:24])}"


def test_pages_name_the_manifest_and_an_icon_without_round_corners(client: Client) -> None:
    page = Page(client.get("/about/"))
    assert page.one("link", rel="manifest").get("href") == "/manifest.webmanifest"
    icon = page.one("link", rel="apple-touch-icon").get("href")
    assert icon == "/static/img/apple-touch-icon.png"
    assert png_size(icon) == "180x180"


EVERYWHERE = ("/service-worker.js", "/offline/", "/manifest.webmanifest")


def test_the_worker_and_its_page_are_asked_for_again_and_the_same_for_everybody(
    client: Client, as_alice: Client, settings: Any
) -> None:
    answers = [client.get(address) for address in EVERYWHERE]
    assert answers[0]["Content-Type"] == "text/javascript; charset=utf-8"
    assert [answer["Cache-Control"] for answer in answers[:2]] == ["no-cache"] * 2
    assert [as_alice.get(address).content for address in EVERYWHERE] == [answer.content for answer in answers]
    settings.LOGIN_REQUIRED = True  # a closed site can be installed, too
    assert [client.get(address).status_code for address in EVERYWHERE] == [200] * 3


def test_the_address_of_each_stored_file_has_the_hash_of_its_contents(client: Client) -> None:
    _, files = worker(client)
    assert [file.partition("?")[0] for file in files] == [f"/static/{name}" for name in OF_OFFLINE_PAGE]
    assert all(re.fullmatch(r".*\?[0-9a-f]{12}", file) for file in files)
    collected = {name: f"/static/{name}.0123456789ab.x" for name in OF_OFFLINE_PAGE}
    with patch("games.web.installed_app.static", collected.get):
        assert worker(client)[1] == list(collected.values())


def test_a_change_of_the_offline_page_or_of_any_collected_file_is_a_new_version(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _ = worker(client)
    assert worker(client)[0] == before
    settings.SITE_NAME = "Cards & Co."
    renamed, _ = worker(client)
    monkeypatch.setattr(staticfiles_storage, "manifest_hash", "1f", raising=False)
    assert len({before, renamed, worker(client)[0]}) == 3
