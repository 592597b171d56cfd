"""Answers that pages, the API and the server itself have in common."""

from typing import Final

from django.http import HttpResponse, JsonResponse

from games.refusals import Denied

API: Final = "/api/"
"""How the paths of the API begin, where a refusal is an error object and not a page."""


def error_object(denied: Denied) -> HttpResponse:
    """Return the API's answer for a refusal."""
    return JsonResponse(denied.to_json(), status=denied.status)
