"""The limit of open files."""

import resource
from contextlib import suppress
from typing import Final

ENOUGH_FILES: Final = 65_536
"""More would not help, and slows down programs that loop over all possible descriptors."""


def raise_file_limit() -> None:
    """Raise this process's limit of open files as far as allowed, up to `ENOUGH_FILES`. Its children inherit it.

    Connections soon use up the usual limit of 1,024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(ValueError, OSError):  # some kernels allow less than the hard limit says
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
