"""The limits of the HTTP server. docs/operations.md lists them."""

from dataclasses import dataclass

from accounts.limits import scaled


@dataclass(frozen=True)
class Limits:
    """Limits of one process in seconds, bytes and counts. `widened` scales those of one address."""

    head_seconds: float = 10.0
    """From the first byte of a request, or the start of its connection, to the end of its headers."""
    head_bytes: int = 16_384
    """The longest request line and headers together."""
    head_lines: int = 100
    """The most lines of both. Thousands of short ones would take as long to parse as several pages."""
    body_seconds: float = 10.0
    """From the end of the headers to the end of the body."""
    body_bytes: int = 2_621_440
    """The longest body that is read. A body is parsed only up to `DATA_UPLOAD_MAX_MEMORY_SIZE`."""
    write_seconds: float = 30.0
    """How long a client may leave an answer unread before its connection is closed."""
    waiting_connections: int = 300
    """Connections of one address that have no request or only a part of one.

    An answer whose last part is not read, 128 KB at most, is no request any more.
    """
    new_connections: int = 500
    """New connections of one address within `new_seconds`."""
    new_connections_of_neighbours: int = 2 * new_connections
    """The same for all addresses of its network together (`neighbours_of` in `accounts.origin`).

    An address with few of its own is refused only at twice this (`accounts.limits.crowded`). So it is with the other
    limits of networks below, except that on threads.
    """
    few_connections: int = 50
    """An address that makes at most so many is refused for its network only at twice the limit. A page takes 7."""
    new_seconds: float = 10.0
    """The time within which that many may be made. Then the count begins again."""
    open_requests: int = 100
    """Requests of one address that are being read, waiting or being answered. A browser has 6 connections."""
    open_requests_of_neighbours: int = 4 * open_requests
    """The same for all addresses of its network together."""
    few_requests: int = 8
    """An address that has at most so many is refused for its network only at twice the limit."""
    waiting_calls: int = 100
    """Waiting calls of one address. They do not count for `open_requests` while they wait."""
    waiting_calls_of_one: int = 20
    """Waiting calls of one person."""
    held_bytes: int = 4 * body_bytes
    """Bytes of the bodies of those requests."""
    held_bytes_of_neighbours: int = 8 * held_bytes
    """The same for all addresses of its network together."""
    few_bytes: int = 65_536
    """The same as `few_requests` for bytes of bodies. Nearly all forms are shorter."""
    unsent_bytes: int = 16_777_216
    """Bytes of answers that are being sent to one address. Each counts whole until its end; the longest does not.

    They are checked before an answer is made, and those longer than `few_unsent_bytes` again before they are sent.
    """
    unsent_bytes_of_neighbours: int = 4 * unsent_bytes
    """The same for all addresses of its network together."""
    few_unsent_bytes: int = 1_048_576
    """The same as `few_requests` for bytes of answers, without the longest. Nearly all pages are shorter."""
    in_threads: int = 4
    """Requests of one address that are in threads at once."""
    in_threads_of_neighbours: int = 8
    """The same for all addresses of its network together."""
    socket_bytes: int = 1_024
    """How much a client may send on a websocket within `socket_seconds`. It only needs to send pongs."""
    socket_seconds: float = 10.0
    """The time within which a client may send those bytes. Then the count begins again."""


LIMITS = Limits()


def widened(most: int) -> int | None:
    """Return a limit of one address, scaled up if `RATE_LIMITS` is above 100; None for no limit."""
    # Never scaled down: a browser needs a few connections at once.
    wide = scaled(most)
    return None if wide is None else max(most, wide)
