"""Responses that pages, the API and the HTTP server share."""

from typing import Final

from django.conf import settings
from django.http import HttpResponse, JsonResponse

from games.refusals import Denied

API: Final = "/api/"
"""The prefix of the API's paths. A refusal there is an error object, not a page."""


def error_object(denied: Denied) -> HttpResponse:
    """Return the API's answer for a refusal."""
    return JsonResponse(denied.to_json(), status=denied.status)


def too_large() -> Denied:
    """Return the refusal of a body longer than `DATA_UPLOAD_MAX_MEMORY_SIZE`."""
    most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,}"
    return Denied("too_large", "The body is longer than {most} bytes: send less. Nothing was done.", most=most)
