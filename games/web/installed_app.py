"""What browsers need to install the site as an app: the manifest, the service worker and its offline page."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

ICONS: Final = (("icon-192.png", 192, "any"), ("icon-512.png", 512, "any"), ("icon-maskable-512.png", 512, "maskable"))
"""The icons that `script/icons.py` draws: file, width in pixels, and purpose."""
OF_OFFLINE_PAGE: Final = (
    "css/tokens.css",
    "css/base.css",
    "css/cards.css",
    "css/pages.css",
    "js/again.js",
    "img/favicon.svg",
    "vendor/bricolage-grotesque-subset-5.3.0.woff2",
)
"""The static files of `offline.html`. The worker stores them when it is installed."""
HASH_LENGTH: Final = 12


@require_safe
@cache_control(no_cache=True)
def manifest(request: HttpRequest) -> HttpResponse:
    """Describe the app that a browser can install (the W3C's Web Application Manifest)."""
    fields = {
        "id": "/",
        "name": settings.SITE_NAME,
        "short_name": settings.SITE_NAME,
        "description": "The card game, played over days.",
        "lang": "en",
        "start_url": reverse("home"),
        "scope": "/",
        "display": "standalone",
        "background_color": "#f4f0e6",
        "theme_color": "#fffdf8",
        "icons": [
            {"src": static(f"img/{file}"), "sizes": f"{width}x{width}", "type": "image/png", "purpose": purpose}
            for file, width, purpose in ICONS
        ],
    }
    return JsonResponse(fields, content_type="application/manifest+json")


@require_safe
@cache_control(no_cache=True)
def service_worker(request: HttpRequest) -> HttpResponse:
    """Return the service worker. It is at the root of the site, because its address limits which pages it serves."""
    files = [_address(name) for name in OF_OFFLINE_PAGE]
    # A collected site has one hash for all of its static files: old ones are then deleted with their cache.
    parts = [_offline_page(), *files, getattr(staticfiles_storage, "manifest_hash", "")]
    worker = {"cache": _hash("\n".join(parts).encode()), "offline": reverse("offline"), "files": files}
    text = loader.render_to_string("service-worker.js", {"worker": mark_safe(json.dumps(worker))})  # noqa: S308  # ours
    return HttpResponse(text, content_type="text/javascript; charset=utf-8")


@require_safe
@cache_control(no_cache=True)
def offline(request: HttpRequest) -> HttpResponse:
    """Return the page that the worker shows without a connection. It is the same for everybody."""
    return HttpResponse(_offline_page())


def _offline_page() -> str:
    return loader.render_to_string("offline.html")


def _address(name: str) -> str:
    """Return the address of a static file with the hash of its contents, in the query if the name has none."""
    address, file = static(name), finders.find(name)
    if address != settings.STATIC_URL + name or file is None:
        return address
    return f"{address}?{_hash(Path(file).read_bytes())}"


def _hash(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()[:HASH_LENGTH]
