"""The session store, for pages and websockets: rows with the user and the last use."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.serializers import JSONSerializer
from django.core.exceptions import SuspiciousOperation
from django.db.models import Case, F, Value, When
from django.utils import timezone

from accounts.models import Session
from common.fixed_sql import Columns, prepared_cursor
from mail.models import PushSubscription

KEY: Final = re.compile(r"[a-z0-9]{8,40}")
SEEN_INTERVAL: Final = timedelta(minutes=10)
"""The shortest time between two writes of a session's last use, so that most requests write nothing."""
KEY_GRACE: Final = timedelta(seconds=10)
"""How long the old key of a session still works after a new one, for the second click of a double click."""
VISITORS_KEPT: Final = timedelta(days=1)
"""How long the session of a visitor lasts. Anyone can make thousands of them."""
LONGEST: Final = 32 * 1024
"""The most bytes of a session as JSON, many times what the site stores in one."""
SESSION: Final = Columns({Session: "s"})
SESSION_SQL: Final = f"SELECT {SESSION} FROM accounts_session s WHERE s.session_key = %s AND s.expire_date > %s"  # noqa: S608  # columns of a model


class SessionTooLong(SuspiciousOperation):
    """A request would make its session longer than `LONGEST`. Django answers 400."""


class BoundedSerializer(JSONSerializer):
    """Serializes sessions as JSON, up to `LONGEST`."""

    def dumps(self, obj: Any) -> bytes:
        """Return the data of a session as JSON.

        :raises SessionTooLong: it is longer than `LONGEST`.
        """
        text: bytes = super().dumps(obj)
        if len(text) > LONGEST:
            raise SessionTooLong("A session may not grow any further.")
        return text


class SessionStore(DatabaseStore):
    """Stores the user and the last use in columns, and ignores a cookie that cannot be a key."""

    seen_at: datetime | None = None
    """When the session was last used, as stored. None if the session was not read from the database."""
    ends_at: datetime | None = None
    """When the session ends, as stored. None if it was not read from the database, or if a new key has replaced it."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """Return the row to save.

        :raises SessionTooLong: `data` is longer than `LONGEST` as JSON.
        """
        row = super().create_model_instance(data)
        assert isinstance(row, Session)
        now = timezone.now()
        row.user_id = int(data[SESSION_KEY]) if SESSION_KEY in data else None
        row.seen_at = now
        if row.user_id is None:
            row.expire_date = min(row.expire_date, now + VISITORS_KEPT)
        if self.seen_at is not None:
            # In the database, because the key may be renewed after this request has read its session.
            row.expire_date = Case(When(ending=True, then=F("expire_date")), default=Value(row.expire_date))
            row.ending = F("ending")
        return row

    def create(self) -> None:
        # So that create_model_instance sets the expiry date and does not keep a stored one.
        self.seen_at = None
        super().create()

    def note_use(self, now: datetime) -> None:
        """Store `now` as the last use, at most every `SEEN_INTERVAL`."""
        if self.seen_at is not None and now - self.seen_at >= SEEN_INTERVAL:
            Session.objects.filter(session_key=self.session_key).update(seen_at=now)
            self.seen_at = now

    def lengthen(self, now: datetime) -> None:
        """Let the session last as long as a new one, if less than half of that is left. It is saved with the answer."""
        if self.ends_at is not None and self.ends_at - now < timedelta(seconds=self.get_session_cookie_age()) / 2:
            self.modified = True

    def renew_key(self) -> None:
        """Continue under a new key. The old key works for `KEY_GRACE`, without the changes of this request.

        No request that uses the old key makes it last longer.
        """
        old = self.session_key
        self._continue()
        Session.objects.filter(session_key=old).update(expire_date=timezone.now() + KEY_GRACE, ending=True)

    def cycle_key(self) -> None:
        """Continue under a new key, and end the old one. Django's own would end push to this browser with it."""
        old = self.session_key
        self._continue()
        if old:
            self.delete(old)

    def _continue(self) -> None:
        old, data = self.session_key, dict(self.items())
        self.create()
        self._session_cache = data
        PushSubscription.objects.filter(session=old).update(session=self.session_key)

    def _validate_session_key(self, key: object) -> bool:
        return isinstance(key, str) and KEY.fullmatch(key) is not None  # PostgreSQL refuses text with a NUL

    def _get_session_from_db(self) -> Any:
        """Return the row of this key by a fixed statement. Like Django's, forget the key if there is none."""
        with prepared_cursor() as cursor:
            cursor.execute(SESSION_SQL, [self.session_key, timezone.now()])
            row = SESSION.fetch_one(cursor)
        if row is None:
            self._session_key = None
            return None
        session = row.instance(Session)
        self.seen_at = session.seen_at
        self.ends_at = None if session.ending else session.expire_date
        return session
