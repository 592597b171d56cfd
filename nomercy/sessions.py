"""Sessions in the database, for pages and websockets alike."""

import re

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore

KEY = re.compile(r"[a-z0-9]{8,40}")


class SessionStore(DatabaseStore):
    """Takes a cookie that no session could have for none at all: PostgreSQL would choke on a NUL in it."""

    def _validate_session_key(self, key: object) -> bool:
        return isinstance(key, str) and KEY.fullmatch(key) is not None
