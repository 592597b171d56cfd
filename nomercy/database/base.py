"""The database backend. It checks a kept connection without a query, and remembers which of several hosts answers."""

from __future__ import annotations

import select
from typing import Any, ClassVar

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus

READ_ONLY = ("in_hot_standby", "default_transaction_read_only")
"""Parameters of PostgreSQL that are on where it takes no writes."""
READY = (TransactionStatus.IDLE, TransactionStatus.INTRANS)


class DatabaseWrapper(base.DatabaseWrapper):
    """Checks a kept connection without the `SELECT 1` that Django sends once a request (`CONN_HEALTH_CHECKS`).

    Of several hosts, tries the one first that this process has used last. While another is away, each new connection
    would otherwise wait for it until `connect_timeout`.
    """

    used: ClassVar[tuple[str, str]] = ("", "")
    """Host and port of the newest connection of this process."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        names, ports = (str(conn_params.get(name, "")).split(",") for name in ("host", "port"))
        if len(names) == len(ports) > 1 and "hostaddr" not in conn_params:
            hosts = list(zip(names, ports, strict=True))
            hosts.sort(key=lambda host: (host[0], host[1] or "5432") != DatabaseWrapper.used)
            names, ports = ([host[n] for host in hosts] for n in (0, 1))
            conn_params = conn_params | {"host": ",".join(names), "port": ",".join(ports)}
        connection = super().get_new_connection(conn_params)
        DatabaseWrapper.used = (connection.info.host, str(connection.info.port))
        return connection

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
