"""The database backend. It checks a kept connection without a query."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

READ_ONLY = ("in_hot_standby", "default_transaction_read_only")
"""Parameters of PostgreSQL that are on where it takes no writes."""
READY = (TransactionStatus.IDLE, TransactionStatus.INTRANS)


class DatabaseWrapper(base.DatabaseWrapper):
    """Checks a kept connection without the `SELECT 1` that Django sends once a request (`CONN_HEALTH_CHECKS`)."""

    def is_usable(self) -> bool:
        """Return True if the connection still works, and its server is not known to take no writes."""
        if self.connection is None or self.connection.info.transaction_status not in READY:
            return False
        # PostgreSQL says by itself when one of them changes. A new connection finds the server that takes writes.
        if any(self.connection.info.parameter_status(name) == "on" for name in READ_ONLY):
            return False
        # A server that has gone has sent an error or the end of the connection, so there is something to read.
        line = select.poll()
        line.register(self.connection.fileno(), select.POLLIN)
        return not line.poll(0) or super().is_usable()
