"""Limits on requests by person, session or token, and by network address. `common.limits` is their table.

Persons, tokens and addresses are counted by a keyed hash, in the cache and so by all processes together.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from itertools import product
from typing import Any, Final, cast

import structlog
from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import loader
from django.urls import Resolver404, resolve
from django.utils.connection import ConnectionProxy

from accounts.origin import address_of, hashed_identity
from common import limits
from common.htmx import HtmxRequest
from common.limits import HOUR, REQUESTS, Limit, RequestLimits, TooManyTries, refusal, scaled
from games.api.auth import bearer_token, owner_of
from games.refusals import Denied
from nomercy.answers import API, error_object

cache = cast("Any", ConnectionProxy(caches, "limits"))  # separate, so that other values do not evict counts
clock: Callable[[], float] = time.time

_WRITE: Final[tuple[tuple[RequestLimits, tuple[str, ...]], ...]] = (
    (limits.MOVES, ("move", "api-v1:make_move")),
    (limits.TABLES, ("new-table", "play-now", "rematch", "api-v1:create_game", "api-v1:ask_rematch")),
    (limits.SEATS, (
        "join", "invite", "leave", "start", "add-bot", "pause", "go-on", "take-back", "orders", "stop-orders",
    )),
    (limits.API_SEATS, (
        "api-v1:join_game", "api-v1:join_by_link", "api-v1:add_bot", "api-v1:leave_game", "api-v1:start_game",
        "api-v1:pause_game", "api-v1:resume_game", "api-v1:take_back_seat", "api-v1:set_orders",
    )),
    (limits.REPORTS, ("suspended", "report", "report-person")),
    (limits.LOG_INS, ("account_login", "openid_login", "mfa_login_webauthn")),
    (limits.PASSWORDS, (
        "openid_link", "openid_confirm", "account_change_password", "account_reauthenticate", "mfa_authenticate",
        "mfa_reauthenticate", "mfa_activate_totp", "mfa_add_webauthn", "mfa_reauthenticate_webauthn",
    )),
    (limits.OUTGOING, ("device-add", "hook", "hook-test")),
    (limits.SESSIONS, ("sessions",)),
    (limits.ADDRESSES, ("account_email",)),
    (limits.STORES, (
        "device-choose", "device-decline", "device-remove", "device-test", "hook-again", "hook-remove", "hook-secret",
    )),
)  # fmt: skip
WRITE_LIMITS: Final[Mapping[str, RequestLimits]] = {name: limit for limit, names in _WRITE for name in names}
"""The limits on a POST or PUT by the name of its URL pattern. Those of others are `OTHERS`, or in the API none."""
READ_LIMITS: Final[Mapping[str, RequestLimits]] = {
    "record": limits.RECORDS,
    "api-v1:get_record": limits.RECORDS,
    "account_reset_password_from_key": limits.STORES,  # opening the link that sets a new password stores a session
    "mfa_login_webauthn": limits.STORES,  # so does asking what a passkey has to sign
    "openid_callback": limits.CALLBACKS,  # the site then asks the provider
}
"""Limits on reads that cost far more than a page, besides `READS` or `API_CALLS`."""
READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
WRITING: Final = frozenset({"POST", "PUT"})
HEALTH: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""The pages for monitors and proxies. Their limit is separate, so that others at the address do not use it up."""


def throttle(limit: Limit, who: str) -> int:
    """Count one request of `who`. Return the seconds to wait if it is over the limit, else 0.

    Windows have fixed edges, so up to twice the limit passes around one. While the cache is down nobody is refused.
    """
    most, now = scaled(limit.most), clock()
    if most is None or cache.count(_key(limit, who, now), limit.seconds) <= most:
        return 0
    return limit.seconds - int(now % limit.seconds)


def give_back(limit: Limit, who: str) -> None:
    """Undo one `throttle` of a moment ago."""
    with suppress(ValueError):  # its window is over
        cache.decr(_key(limit, who, clock()))


def _key(limit: Limit, who: str, now: float) -> str:
    return f"limit:{limit.name}:{hashed_identity(limit.who, who)}:{int(now // limit.seconds)}"


def _limits_of(request: HttpRequest, view_name: str) -> list[RequestLimits]:
    """Return the limits that this request counts for. `view_name` is "" if no view matches."""
    reading, by_api = request.method in READING, request.path.startswith(API)
    if reading:
        special = READ_LIMITS.get(view_name)
    else:
        special = WRITE_LIMITS.get(view_name) if request.method in WRITING else None
    if by_api:
        usual = limits.API_CALLS
    elif reading:
        usual = limits.HEALTH_CHECKS if request.path in HEALTH else limits.READS
    else:
        return [special or limits.OTHERS]
    return [usual] if special is None else [usual, special]


@lru_cache(maxsize=1024)  # Django finds the view of the same path again later
def _name_of(path: str) -> str:
    """Return the name of the view at this path, or "" if none matches."""
    try:
        return resolve(path).view_name
    except Resolver404:
        return ""


def _may_be_known(request: HttpRequest) -> bool:
    return settings.SESSION_COOKIE_NAME in request.COOKIES or bearer_token(request) is not None


def _wait_for_token(request: HttpRequest, token: str) -> int:
    """Look the token up. Return the seconds to wait, without a look-up, if its address has sent too many unknown ones.

    A token counts as unknown before the look-up, so that many at once do not all cost a query. One that was used within
    the last hour does not, so that it works while others at its address send junk.
    """
    limit, address = limits.UNKNOWN_TOKENS["address"], address_of(request)
    used = f"limit:used-token:{hashed_identity('token', token)}"
    if cache.get(used):
        return 0
    wait = throttle(limit, address)
    if not wait and owner_of(request, token) is not None:
        give_back(limit, address)
        cache.set(used, 1, HOUR)
    return wait


def _count(
    request: HttpRequest, by_kind: Iterable[RequestLimits], identities: Iterable[tuple[str, str]]
) -> HttpResponse | None:
    """Count the request for each identity (kind and value) that a limit is for. Return the refusal if one is over."""
    for limit, (kind, who) in product(by_kind, identities):
        if kind in limit and (wait := throttle(limit[kind], who)):
            return too_many(request, limit[kind].name, wait)
    return None


class Limits:
    """Middleware that answers 429 with `Retry-After` to requests over a limit.

    It comes before sessions and CSRF. Each request first counts for its address, so that over that limit it costs no
    query. The user is only known in `process_view`, so requests count for persons, sessions and tokens there, still
    before the CSRF check.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # A visitor over the limit of visitors does not count for the address, where people play.
        kinds = ("address",) if _may_be_known(request) else ("visitor", "address")
        counted = [(kind, address_of(request)) for kind in kinds]
        refused = _count(request, _limits_of(request, _name_of(request.path_info)), counted)
        return self.get_response(request) if refused is None else refused

    def process_view(self, request: HtmxRequest, *view: object) -> HttpResponse | None:
        by_kind = _limits_of(request, request.resolver_match.view_name if request.resolver_match else "")
        if not _may_be_known(request) or not any(limit.keys() - {"address"} for limit in by_kind):
            return None
        who = []
        if request.user.is_authenticated:
            who = [("person", str(request.user.pk)), ("session", str(request.session.session_key))]
        token = bearer_token(request) if request.path.startswith(API) else None
        if token is not None:
            if wait := _wait_for_token(request, token):
                return too_many(request, limits.UNKNOWN_TOKENS["address"].name, wait)
            if owner := owner_of(request, token):  # a person can have many tokens
                who += [("token", token), ("person", str(owner.pk))]
        return _count(request, by_kind, dict.fromkeys(who or [("visitor", address_of(request))]))

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, TooManyTries):
            return None
        return too_many(request, error.limit.name, error.wait, what=error.limit.what)


def too_many(request: HttpRequest, name: str, wait: int, *, what: str = REQUESTS) -> HttpResponse:
    """Return the refusal of a request over the limit `name`. Runs no query. `wait` is in seconds."""
    structlog.contextvars.bind_contextvars(limit=name)  # for `RequestLog`
    sentence = refusal(what, wait)
    if request.path.startswith(API):
        response = error_object(Denied("too_many_requests", sentence))
    else:
        response = HttpResponse(_page(sentence), status=HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(wait)
    return response


@lru_cache(maxsize=512)  # a flood gets the same few pages, and rendering them is most of the work
def _page(sentence: str) -> str:
    return loader.get_template("429.html").render({"sentence": sentence})
