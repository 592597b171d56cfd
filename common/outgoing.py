"""Send a request to a URL that somebody gave the site, without letting them reach what only the site can reach.

The host is looked up once, all its addresses must be public, and the connection goes to one of them. Redirects are not
followed, proxies of the environment not used. Nothing here needs the database, so it can run in any thread.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import SHUT_RDWR, SOCK_STREAM, create_connection, getaddrinfo, socket
from threading import Thread, Timer
from time import monotonic
from typing import Final, Literal, NamedTuple
from urllib.parse import SplitResult, urlsplit

import h11
from django.conf import settings

SECONDS: Final = 8.0  # for looking up the host, the certificate, sending and reading
SAVING_SECONDS: Final = 3.0  # for looking up the host while somebody waits for their form
MOST_BYTES: Final = 65_536  # of an answer: they are dropped, but some servers take an early end for a failure
MOST_CONNECTIONS: Final = 3  # addresses of a host that are tried
PORTS: Final = (443, 8443)
tls_context: Final = cache(ssl.create_default_context)  # it reads the root certificates, which takes 50 ms
_URL: Final = re.compile(r"[!#-;=?-\[\]_a-zA-Z~]{1,2048}")  # IGNORECASE would match ſ and K
# The last part begins with a letter, unlike in `127.1` and `0x7f000001`, which resolvers take for addresses.
_HOST: Final = re.compile(r"(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z][a-z0-9-]{0,61}[a-z0-9]")
# Of IPv6 only 2000::/3 is given to hosts. Python's `is_global` depends on its version in the others, and is true for
# addresses that contain an IPv4 address: 2001::/32 (Teredo) and 2002::/16 (6to4) here, the rest outside of 2000::/3.
_NO_HOSTS: Final = "100.64.0.0/10 192.0.0.0/24 192.88.99.0/24 224.0.0.0/3 2001::/23 2001:db8::/32 2002::/16 3fff::/20"

Address = IPv4Address | IPv6Address
Resolve = Callable[[str], Sequence[str]]
Rule = Literal["", "off", "url", "https", "user", "port", "name", "host", "private"]


class Answer(NamedTuple):
    """The status of an answer, and its header `Retry-After`: seconds or a date (RFC 9110, 10.2.3), or None."""

    status: int
    retry_after: str | None


class OutgoingError(Exception):
    """A request was not sent, or not answered.

    kind: `address`: it may not go there. `silent`: no connection, or no answer in time. `certificate`: it is not that
        of the host. `redirect`: the answer leads elsewhere.
    rule: What is wrong with an `address`: all requests are `off`, it is no `url`, not `https`, has a `user` or another
        `port`, its host is no `name`, there is no such `host`, or its address is `private`.
    """

    def __init__(self, kind: Literal["address", "silent", "certificate", "redirect"], rule: Rule = "") -> None:
        super().__init__(rule or kind)
        self.kind, self.rule = kind, rule


def addresses_of(host: str) -> Sequence[str]:
    """Ask the machine's resolver for the addresses of a host, or raise OSError if it has none."""
    return [str(found[4][0]) for found in getaddrinfo(host, None, type=SOCK_STREAM)]


def check(url: str, *, resolve: Resolve = addresses_of) -> None:
    """Check that requests may go to this URL, when somebody saves it. Each request checks it again.

    :raises OutgoingError: they may not, with the `rule`.
    """
    _check_url(url, resolve, monotonic() + SAVING_SECONDS)


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, resolve: Resolve = addresses_of, seconds: float = SECONDS
) -> Answer:
    """Send a POST request and return the answer, unless it is a redirect.

    :raises OutgoingError: it was not sent, not answered in time, or redirected.
    """
    until = monotonic() + seconds
    parts, host, port, addresses = _check_url(url, resolve, until)
    fields = {"Host": parts.netloc, "User-Agent": f"No-Mercy (+{settings.SITE_URL})", "Connection": "close", **headers}
    fields["Content-Length"] = str(len(body))
    target = (parts.path or "/") + (parts.query and f"?{parts.query}")
    request = h11.Request(method="POST", target=target, headers=[*fields.items()])
    try:
        with ExitStack() as opened:
            link = opened.enter_context(_connect(addresses, port, until))
            # Timeouts do not suffice: OpenSSL reads on while messages about TLS itself come (RFC 8446, 4.6).
            timer = Timer(_left(until), _shut_down, [opened.enter_context(link.dup())])  # TLS takes the socket over
            timer.start()
            opened.callback(timer.cancel)
            if parts.scheme == "https":
                link.settimeout(_left(until))  # of the whole handshake
                tls = tls_context().wrap_socket(link, server_hostname=host, do_handshake_on_connect=False)
                link = opened.enter_context(tls)
                tls.do_handshake()
            answer = _answer(link, request, body, until)
    except ssl.SSLCertVerificationError as error:
        raise OutgoingError("certificate") from error
    except (OSError, h11.RemoteProtocolError) as error:
        raise OutgoingError("silent") from error
    if 300 <= answer.status < 400:
        raise OutgoingError("redirect")
    return answer


def _shut_down(link: socket) -> None:
    with suppress(OSError):  # the other side has left
        link.shutdown(SHUT_RDWR)


def _answer(link: socket, request: h11.Request, body: bytes, until: float) -> Answer:
    """Send a request, and read the answer to its end, to `MOST_BYTES`, or until this time of `monotonic`."""
    http, answer, read = h11.Connection(h11.CLIENT), None, 0
    events: Sequence[h11.Event] = (request, h11.Data(data=body), h11.EndOfMessage())
    link.settimeout(_left(until))
    link.sendall(b"".join(http.send(event) or b"" for event in events))
    try:
        while not isinstance(event := http.next_event(), h11.EndOfMessage | h11.ConnectionClosed):
            if isinstance(event, h11.Response):
                retry_after = dict(event.headers).get(b"retry-after", b"").decode("ascii", "replace")
                answer = Answer(event.status_code, retry_after or None)
            elif event is h11.NEED_DATA:
                link.settimeout(_left(until))
                http.receive_data(part := link.recv(8192))
                if (read := read + len(part)) > MOST_BYTES:
                    break
    except (OSError, h11.RemoteProtocolError):
        if answer is None:
            raise
    if answer is None:
        raise TimeoutError
    return answer


def _check_url(url: str, resolve: Resolve, until: float) -> tuple[SplitResult, str, int, list[Address]]:
    """Return the parts of a URL, its host and port, and the addresses to connect to."""
    if not settings.OUTGOING:
        raise OutgoingError("address", "off")
    try:
        parts = urlsplit(url if _URL.fullmatch(url) else "")
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise OutgoingError("address", "url") from error
    if not host or "@" in parts.netloc or parts.scheme not in ("http", "https"):
        raise OutgoingError("address", "url" if not host else "user" if "@" in parts.netloc else "https")
    named = _HOST.fullmatch(host) is not None
    # Only what the operator allows can do without https, have another port, or be an address in place of a name.
    broken: Rule = "https" if parts.scheme != "https" else "port" if port not in PORTS else "" if named else "name"
    if broken and not settings.OUTGOING_ALLOW:
        raise OutgoingError("address", broken)
    addresses = _look_up(host, resolve if named else lambda literal: [literal], until)
    if not addresses or not all(_may_connect(address, broken=bool(broken)) for address in addresses):
        raise OutgoingError("address", broken or "private")
    return parts, host, port, addresses


def _look_up(host: str, resolve: Resolve, until: float) -> list[Address]:
    found: Future[list[Address]] = Future()

    def look_up() -> None:
        try:
            found.set_result([ip_address(address) for address in resolve(host)])
        except (OSError, ValueError) as error:
            found.set_exception(error)

    Thread(target=look_up, daemon=True).start()  # it ends with the resolver, which takes its own time
    try:
        return found.result(_left(until))
    except (OSError, ValueError) as error:  # also if it took too long
        raise OutgoingError("address", "host") from error


def _may_connect(address: Address, *, broken: bool) -> bool:
    if any(address in network for network in settings.OUTGOING_ALLOW):
        return True
    of_hosts = (address.version == 4 or address in ip_network("2000::/3")) and address.is_global
    return of_hosts and not broken and not any(address in ip_network(one) for one in _NO_HOSTS.split())


def _left(until: float) -> float:
    """Return the seconds until this time of `monotonic`, or raise TimeoutError."""
    if (left := until - monotonic()) <= 0:
        raise TimeoutError
    return left


def _connect(addresses: Sequence[Address], port: int, until: float) -> socket:
    """Connect to the first of these addresses that can be reached. Each has an equal share of the time left."""
    *others, last = addresses[:MOST_CONNECTIONS]
    for n, address in enumerate(others):
        with suppress(OSError):
            return create_connection((str(address), port), _left(until) / (len(others) + 1 - n))
    return create_connection((str(last), port), _left(until))
