"""A kept connection is looked at before it is used again, without asking PostgreSQL anything."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

READY = (TransactionStatus.IDLE, TransactionStatus.INTRANS)


class DatabaseWrapper(base.DatabaseWrapper):
    """Saves the round trip of `SELECT 1` that Django makes once a request (`CONN_HEALTH_CHECKS`)."""

    def is_usable(self) -> bool:
        """Whether the connection stands. A server that has gone has left its last words to read, or the end."""
        if self.connection is None or self.connection.info.transaction_status not in READY:
            return False
        line = select.poll()
        line.register(self.connection.fileno(), select.POLLIN)
        return not line.poll(0) or super().is_usable()
