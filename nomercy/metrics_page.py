"""`/metrics`, for those who have the token. It is apart from `metrics`, which is loaded only where it is used."""

from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.api.auth import bearer_token


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with the metrics, or with 401 without the token.

    :raises Http404: the operator has set no `METRICS_TOKEN`.
    """
    if not settings.METRICS_TOKEN:
        raise Http404
    if not constant_time_compare(bearer_token(request) or "", settings.METRICS_TOKEN):
        answer = HttpResponse("Send the token: Authorization: Bearer <METRICS_TOKEN>.\n", content_type="text/plain")
        answer.status_code = HTTPStatus.UNAUTHORIZED
        answer["WWW-Authenticate"] = "Bearer"
        return answer
    from prometheus_client.exposition import CONTENT_TYPE_LATEST  # noqa: PLC0415  # takes 40 ms to load

    from nomercy.metrics import exposition  # noqa: PLC0415

    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)
