"""Log temporary faults of the database as one line without a traceback, in tasks as in requests.

The handler of the logs names this filter by its path: it needs Django, which the settings must not import.
"""

import logging
import sys

from games import refusals


def without_traceback(record: logging.LogRecord) -> bool:
    """Remove the traceback of such a fault from this record. Drops no record."""
    event = record.msg if isinstance(record.msg, dict) else None
    error = sys.exc_info()[1] if event and event.get("exc_info") is True else (record.exc_info or (None, None))[1]
    if error is not None and refusals.passes(error):
        record.exc_info = record.exc_text = None
        if event is not None:
            event["exc_info"], event["error"] = None, type(error.__cause__).__name__
    return True


def filter_of_passing_faults() -> object:
    """Make the filter, for the settings of the logs."""
    return without_traceback
