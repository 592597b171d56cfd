"""How long browsers keep static files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as installed
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils.module_loading import import_string


@pytest.mark.parametrize("file", ["js/live.js", "css/base.css", "vendor/bricolage-grotesque-subset-5.3.0.woff2"])
def test_a_file_of_a_site_from_the_sources_is_checked_before_its_next_use(client: Client, file: str) -> None:
    first = client.get(f"/static/{file}")
    first.close()
    assert (first.status_code, first["Cache-Control"]) == (200, "no-cache")
    again = client.get(f"/static/{file}", headers={"If-Modified-Since": first["Last-Modified"]})
    assert (again.status_code, again["Cache-Control"]) == (304, "no-cache")


@pytest.mark.long
def test_only_a_collected_file_with_a_hash_in_its_name_is_kept_for_ever(settings: Any, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "a.js").write_text("1")
    settings.STATICFILES_DIRS, settings.STATIC_ROOT = [sources], tmp_path / "collected"
    storage = "whitenoise.storage.CompressedManifestStaticFilesStorage"
    settings.STORAGES = {**installed.STORAGES, "staticfiles": {"BACKEND": storage}}
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]  # not the admin's files
    settings.WHITENOISE_USE_FINDERS = False
    call_command("collectstatic", interactive=False, verbosity=0)
    serve = import_string("whitenoise.middleware.WhiteNoiseMiddleware")(lambda _: HttpResponse(status=404))
    kept = {url: serve(RequestFactory().get(url)) for url in ("/static/a.js", staticfiles_storage.url("a.js"))}
    for answer in kept.values():
        answer.close()
    assert [answer.status_code for answer in kept.values()] == [200, 200]
    assert [answer["Cache-Control"] for answer in kept.values()] == [
        "no-cache",
        "max-age=315360000, public, immutable",
    ]
