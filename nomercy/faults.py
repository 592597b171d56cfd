"""A log filter: temporary faults of the database are one line without a traceback.

`logs.py` names it by its path, because it needs Django models, which the settings must not import.
"""

import logging
import sys

from games import refusals


def without_traceback(record: logging.LogRecord) -> bool:
    """Remove the traceback if the record is about a temporary fault of the database. Always return True."""
    event = record.msg if isinstance(record.msg, dict) else None  # a line of structlog
    if event and event.get("exc_info") is True:
        error = sys.exc_info()[1]
    else:
        error = record.exc_info[1] if record.exc_info else None
    if error is not None and refusals.is_temporary(error):
        record.exc_info = record.exc_text = None
        if event is not None:
            event["exc_info"], event["error"] = None, type(error.__cause__).__name__
    return True


def temporary_fault_filter() -> object:
    """Return the filter, for the LOGGING setting."""
    return without_traceback
