"""The network addresses that limits count requests by."""

import hmac
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest


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


def hashed_identity(kind: str, who: str) -> str:
    """Return a hash that stands for `who` in counters, 32 hex digits. It cannot be guessed without `SECRET_KEY`."""
    digest = hmac.digest(settings.SECRET_KEY.encode(), f"{kind}:{who}".encode("utf-8", "surrogateescape"), "sha256")
    return digest.hex()[:32]
