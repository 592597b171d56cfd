"""Compression of responses with gzip, except of pages that show a secret (docs/decisions/0134)."""

from http import HTTPMethod, HTTPStatus
from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_cache_control

from common import secret_pages

LEAST: Final = 1000
"""Shorter responses fill a single packet anyway."""
KINDS: Final = ("text/", "application/javascript", "application/json", "application/xml", "image/svg+xml")
BODILESS: Final = (HTTPStatus.NO_CONTENT, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.NOT_MODIFIED)
"""Responses without a body, or with a part of a file whose bytes were counted uncompressed."""


class Compression(GZipMiddleware):
    """Compresses text for browsers that accept gzip, with a random number of bytes that tell nothing (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if secret_pages.is_secret(request):
            patch_cache_control(response, no_transform=True)  # proxies in front must not compress it either
            return response
        if not _is_worth_it(request, response):
            return response
        answer: HttpResponseBase = super().process_response(request, response)
        if answer.streaming and answer.get("Content-Encoding") == "gzip":
            # WhiteNoise accepts only its own ETag, which the weak one is not. `Last-Modified` stays.
            del answer["ETag"]
        return answer


def _is_worth_it(request: HttpRequest, response: HttpResponseBase) -> bool:
    if response.status_code in BODILESS or not response.get("Content-Type", "").startswith(KINDS):
        return False
    if isinstance(response, HttpResponse):
        return len(response.content) >= LEAST
    return request.method != HTTPMethod.HEAD
