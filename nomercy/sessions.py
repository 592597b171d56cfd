"""Sessions in the database, for pages and websockets alike."""

import re
from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone

from accounts.rows import prepared

KEY = re.compile(r"[a-z0-9]{8,40}")
SESSION = (
    "SELECT session_key, session_data, expire_date FROM django_session WHERE session_key = %s AND expire_date > %s"
)


class SessionStore(DatabaseStore):
    """Takes a cookie that no session could have for none at all: PostgreSQL would choke on a NUL in it."""

    def _validate_session_key(self, key: object) -> bool:
        return isinstance(key, str) and KEY.fullmatch(key) is not None

    def _get_session_from_db(self) -> Any:
        """The row of this key, by a fixed statement; as Django's own, forget a key that has none."""
        with prepared() as cursor:
            cursor.execute(SESSION, [self.session_key, timezone.now()])
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return None
        return self.model(*row)
