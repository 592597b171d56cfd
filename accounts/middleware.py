"""Times are shown in the zone of whoever asks."""

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

Handler = Callable[[HttpRequest], HttpResponseBase]


def time_zone(get_response: Handler) -> Handler:
    """Activate the user's time zone for the request. A request without a session asks the database nothing."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated and request.user.time_zone != "UTC":
            with timezone.override(zoneinfo.ZoneInfo(request.user.time_zone)):
                return get_response(request)
        return get_response(request)

    return handle
