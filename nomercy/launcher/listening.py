"""The listening socket of `script/run`, and the limit of open files."""

import resource
import socket
from contextlib import suppress
from typing import Final

ENOUGH_FILES: Final = 65_536
"""More would not help, and slows down programs that loop over all possible descriptors."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there.

    :raises OSError: the address cannot be used.
    """
    try:
        bound = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:  # Python adds the address to the message; our messages already name it
        raise OSError(error.errno, str(error.strerror).partition(" (while ")[0]) from None
    # Accepted connections inherit it. asyncio sets it only on sockets that name their protocol, and without it the
    # second part of an answer waits 40 ms until the client acknowledges the first.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return bound


def raise_file_limit() -> None:
    """Raise this process's limit of open files as far as allowed, up to `ENOUGH_FILES`. Its children inherit it.

    Connections soon use up the usual limit of 1,024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(ValueError, OSError):  # some kernels allow less than the hard limit says
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
