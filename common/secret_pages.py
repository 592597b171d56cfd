"""Pages that show a secret. They are sent uncompressed: see docs/decisions/0134."""

from typing import Final

from django.http import HttpRequest

_ATTRIBUTE: Final = "shows_a_secret"


def mark_secret(request: HttpRequest) -> None:
    """Have the response to this request sent uncompressed, because it shows a secret."""
    setattr(request, _ATTRIBUTE, True)


def is_secret(request: HttpRequest) -> bool:
    return getattr(request, _ATTRIBUTE, False)
