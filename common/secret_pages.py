"""Pages that show a secret. They are sent uncompressed: see docs/decisions/0134."""

from typing import Final

from django.http import HttpRequest

_MARK: Final = "shows_a_secret"


def mark(request: HttpRequest) -> None:
    """Have the response to this request sent uncompressed, because it shows a secret."""
    setattr(request, _MARK, True)


def is_marked(request: HttpRequest) -> bool:
    return getattr(request, _MARK, False)
