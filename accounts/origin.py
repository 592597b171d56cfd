"""Where a request comes from, as far as limits need to know it."""

import hmac
from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def address_of(request: HttpRequest) -> str:
    """Who asks, as far as proxies of ours vouch for it. IPv6 by its /64: whoever has one address there has them all."""
    chain = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",") if part.strip()]
    hops = settings.TRUSTED_PROXIES
    told = chain[-hops] if 0 < hops <= len(chain) else request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(told)
    except ValueError:
        return "unknown"
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return str(address)


def counted_as(kind: str, who: str) -> str:
    """What stands for somebody where requests are counted: nobody without the site's key finds out whom."""
    digest = hmac.digest(settings.SECRET_KEY.encode(), f"{kind}:{who}".encode("utf-8", "surrogateescape"), "sha256")
    return digest.hex()[:32]
