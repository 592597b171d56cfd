"""Whether the database can write to its disk."""

from typing import Final

from django.db import DEFAULT_DB_ALIAS, Error, connections, transaction

OK: Final = "ok"
DISK_FULL: Final = "disk full"
CANNOT_WRITE: Final = "cannot write"
DISK_FULL_CODE: Final = "53100"
# 200 kB are more than the `work_mem` of this transaction, so PostgreSQL writes a temporary file. Changing a row would
# not show a full disk, because data pages and the write-ahead log have room for long.
LITTLE_MEMORY: Final = "SET LOCAL work_mem = '64kB'"
WRITE_A_LITTLE = (
    "WITH little AS MATERIALIZED (SELECT repeat('x', 1000) FROM generate_series(1, 200)) SELECT count(*) FROM little"
)


def writing() -> str:
    """Return `OK` if the database can write to its disk, else `DISK_FULL` or `CANNOT_WRITE`."""
    try:
        with transaction.atomic(), connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(LITTLE_MEMORY)
            cursor.execute(WRITE_A_LITTLE)
    except Error as error:
        return DISK_FULL if getattr(error.__cause__, "sqlstate", None) == DISK_FULL_CODE else CANNOT_WRITE
    return OK
