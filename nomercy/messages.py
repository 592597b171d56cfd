"""Where messages for the next page are kept: in the session, and only the newest."""

from collections.abc import Iterable
from typing import Any, Final

from django.contrib.messages.storage.session import SessionStorage

MOST: Final = 20
"""Messages that wait for a page. A program that follows redirects without reading a page would collect any number."""


class NewestInSession(SessionStorage):
    """Keeps the newest messages in the session."""

    def _store(self, messages: Iterable[Any], response: Any, *args: Any, **kwargs: Any) -> list[Any]:
        newest = list(messages)[-MOST:]
        left: list[Any] = super()._store(newest, response, *args, **kwargs)  # type: ignore[misc]  # missing in the stubs
        return left
