"""Answers that pages, the API and the server itself have in common."""

from typing import Final

from django.conf import settings
from django.http import HttpResponse, JsonResponse

from games.refusals import Denied

API: Final = "/api/"
"""How the paths of the API begin, where a refusal is an error object and not a page."""


def error_object(denied: Denied) -> HttpResponse:
    """Return the API's answer for a refusal."""
    return JsonResponse(denied.to_json(), status=denied.status)


def too_large() -> Denied:
    """Return the refusal of a body that is longer than the site parses, wherever that is found."""
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return Denied("too_large", f"The body is longer than {most:,} bytes: send less. Nothing was done.")
