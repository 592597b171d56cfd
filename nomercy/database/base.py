"""The database backend. It checks a kept connection without a query."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

READY = (TransactionStatus.IDLE, TransactionStatus.INTRANS)


class DatabaseWrapper(base.DatabaseWrapper):
    """Checks a kept connection without the `SELECT 1` that Django sends once a request (`CONN_HEALTH_CHECKS`)."""

    def is_usable(self) -> bool:
        """Return True if the connection still works."""
        if self.connection is None or self.connection.info.transaction_status not in READY:
            return False
        # A server that has gone has sent an error or the end of the connection, so there is something to read.
        line = select.poll()
        line.register(self.connection.fileno(), select.POLLIN)
        return not line.poll(0) or super().is_usable()
