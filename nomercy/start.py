"""What a process of a site does at its start, when it has logged that it has started."""

import threading

from structlog import get_logger

from nomercy.launcher.given import why_unusable

log = get_logger(__name__)


def log_unusable_database() -> None:
    """Log one line if the database of `DATABASE_URL` cannot be used. The process stays up: it may be away for a moment.

    Does nothing in a thread: `script/run` runs workers and beat in threads, and has connected already.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    reason = why_unusable()
    if reason:
        log.error("the database cannot be used", reason=reason)
