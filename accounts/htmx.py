"""Requests as views get them: HTMX says of itself that it asks, and for what (`request.htmx`)."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request that has passed `HtmxMiddleware`; `htmx` is true for one that a page's own script makes."""

    htmx: HtmxDetails
