"""The network addresses that limits count requests by."""

import hmac
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest

TIMES_FOR_48: Final = 8
"""An IPv6 /48 as a whole has this many times the limit of one address."""


def address_of(request: HttpRequest) -> str:
    """Return the address that this request counts for."""
    return _counted(request.headers.get("X-Forwarded-For", ""), request.META.get("REMOTE_ADDR", ""))


def address_of_scope(scope: Mapping[str, Any]) -> str:
    """Return the address that the request or websocket of this ASGI scope counts for."""
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    client = scope.get("client")  # None on a Unix socket
    return _counted(forwarded.decode("latin-1"), client[0] if client else "")


def _counted(forwarded: str, peer: str) -> str:
    """Return the address that connected to the outermost trusted proxy, or "unknown" if it is not an IP address.

    `forwarded` is the `X-Forwarded-For` header, `peer` the other end of the connection. An IPv6 address is returned as
    its /64, which belongs to one customer.
    """
    chain = [part.strip() for part in forwarded.split(",") if part.strip()]
    hops = settings.TRUSTED_PROXIES
    client = chain[-hops] if 0 < hops <= len(chain) else peer
    try:
        address = ip_address(client)
    except ValueError:
        return "unknown"
    if not isinstance(address, IPv6Address):
        return str(address)
    return str(address.ipv4_mapped or ip_network((address, 64), strict=False))


def networks_of(address: str) -> list[tuple[str, int]]:
    """Return the networks that a request from this address counts for, each with a factor for its limit.

    They are the address itself (as `address_of` returns it), and for IPv6 also its /48. A provider may give a customer
    anything from a /64 to a /48, with 65,536 /64s (docs/decisions/0107-an-ipv6-customer-may-have-a-48.md).
    """
    counted = [(address, 1)]
    if ":" in address:
        counted.append((neighbours_of(address), TIMES_FOR_48))
    return counted


def neighbours_of(address: str) -> str:
    """Return the network around this address, which may be one customer's: its /48, or the /24 of an IPv4 address."""
    try:
        network = ip_network(address)
    except ValueError:
        return address  # "unknown"
    return str(network.supernet(new_prefix=48 if network.version == 6 else 24))


def hashed_identity(kind: str, who: str) -> str:
    """Return a hash that stands for `who` in counters, 32 hex digits. It cannot be guessed without `SECRET_KEY`."""
    digest = hmac.digest(settings.SECRET_KEY.encode(), f"{kind}:{who}".encode("utf-8", "surrogateescape"), "sha256")
    return digest.hex()[:32]
