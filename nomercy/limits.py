"""Limits on requests by person or token, and by network address. They are far above what playing needs.

Every request counts for its address first (docs/decisions/0097-addresses-count-first.md). Persons, tokens and addresses
are counted by a keyed hash. Limits on wrong passwords, codes, sign-ups and resets survive a restart, and are in
accounts/limits.py.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Final

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import loader
from django.urls import Resolver404, resolve

from accounts.limits import HOUR, MINUTE, TooManyTries, refusal, scaled
from accounts.origin import address_of, hashed_identity, networks_of
from common.htmx import HtmxRequest
from games.api.auth import bearer_token, owner_of
from games.refusals import Denied
from nomercy.answers import API, error_object
from nomercy.counting import Limiter

limiter = Limiter()


@dataclass(frozen=True, slots=True)
class Limit:
    """How many requests are allowed in a window of `seconds`. None means any number.

    `person` is the limit of one person, `address` that of one address, and `visitors` that of all visitors from one
    address. `API_CALLS` counts each token separately; other limits count a token for its owner. A limit `by_session`
    counts each session of a person separately, so that a thief with a stolen session cannot block its owner.
    """

    name: str
    person: int | None
    address: int | None
    seconds: int = MINUTE
    visitors: int | None = None
    by_session: bool = False


READS: Final = Limit("reads", None, 12_000)
HEALTH_CHECKS: Final = Limit("health", None, 3_000)
API_CALLS: Final = Limit("api", 18_000, 36_000)
UNKNOWN_TOKENS: Final = Limit("unknown-tokens", None, 60)
REFUSED: Final = Limit("refused", None, 12_000)
"""Forms over the limit of a person. They count for no other limit, but reading their session costs a query."""
UNREADABLE: Final = Limit("unreadable", None, 600)
"""Forms that are refused before their view is found, because they cannot be read."""
RECORDS: Final = Limit("records", 300, 600, visitors=300)
MOVES: Final = Limit("moves", 6_000, 120_000, visitors=480)
TABLES: Final = Limit("tables", 1_200, 4_800, seconds=HOUR, visitors=120)
"""By the hour: tables that a person has left do not count for the limits of `games/actions/table_limits.py`."""
SEATS: Final = Limit("seats", 60, 240, visitors=30)
API_SEATS: Final = Limit("api-seats", 600, 2_400)
STORES: Final = Limit("stores", 30, 60, visitors=30)
"""Opening the link that sets a new password, and asking what a passkey has to sign, store a session."""
REPORTS: Final = Limit("reports", 10, 40, seconds=HOUR)
LOG_INS: Final = Limit("log-ins", 60, 60)
CALLBACKS: Final = Limit("openid-callbacks", 60, 60)
"""Coming back from the OpenID provider, which the site then asks who it is."""
PASSWORDS: Final = Limit("passwords", 10, 60, by_session=True)
SESSIONS: Final = Limit("sessions", 10, 60, by_session=True)
ADDRESSES: Final = Limit("addresses", 10, 40)
OTHERS: Final = Limit("others", 120, 480)

LIMITS: Final[Mapping[str, Limit]] = {
    "move": MOVES,
    "new-table": TABLES,
    "play-now": TABLES,
    "rematch": TABLES,
    "join": SEATS,
    "invite": SEATS,
    "leave": SEATS,
    "start": SEATS,
    "add-bot": SEATS,
    "suspended": REPORTS,
    "report": REPORTS,
    "report-person": REPORTS,
    "pause": SEATS,
    "go-on": SEATS,
    "take-back": SEATS,
    "orders": SEATS,
    "account_login": LOG_INS,
    "openid_login": LOG_INS,
    "openid_link": PASSWORDS,
    "openid_confirm": PASSWORDS,
    "account_change_password": PASSWORDS,
    "account_reauthenticate": PASSWORDS,
    "mfa_authenticate": PASSWORDS,
    "mfa_reauthenticate": PASSWORDS,
    "mfa_activate_totp": PASSWORDS,
    "mfa_add_webauthn": PASSWORDS,
    "mfa_login_webauthn": LOG_INS,
    "mfa_reauthenticate_webauthn": PASSWORDS,
    "sessions": SESSIONS,
    "account_email": ADDRESSES,
    "api-v1:create_game": TABLES,
    "api-v1:ask_rematch": TABLES,
    "api-v1:make_move": MOVES,
    "api-v1:join_game": API_SEATS,
    "api-v1:join_by_link": API_SEATS,
    "api-v1:add_bot": API_SEATS,
    "api-v1:leave_game": API_SEATS,
    "api-v1:start_game": API_SEATS,
    "api-v1:pause_game": API_SEATS,
    "api-v1:resume_game": API_SEATS,
    "api-v1:take_back_seat": API_SEATS,
    "api-v1:set_orders": API_SEATS,
}
"""The limit on a POST or PUT by the name of its URL pattern. All others are `OTHERS`, or have no limit in the API."""
READ_LIMITS: Final[Mapping[str, Limit]] = {
    "record": RECORDS,
    "api-v1:get_record": RECORDS,
    "account_reset_password_from_key": STORES,
    "mfa_login_webauthn": STORES,
    "openid_callback": CALLBACKS,
}
"""Limits on reads that cost far more than a page, besides `READS` or `API_CALLS`."""
NETWORKS: Final = frozenset({"address", "visitor"})
"""The kinds of keys that are network addresses."""
READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
WRITING: Final = frozenset({"POST", "PUT"})
HEALTH: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""The pages for monitors and proxies. Their limit is separate, so that others at the address do not use it up."""


def _usual(request: HttpRequest, view_name: str) -> Limit | None:
    """Return the limit by address alone for this request, or None. `view_name` is "" if no view matches."""
    if request.path.startswith(API):
        return API_CALLS
    if request.method in READING:
        return HEALTH_CHECKS if request.path in HEALTH else READS
    return OTHERS if _special(request, view_name) is None else None


def _special(request: HttpRequest, view_name: str) -> Limit | None:
    """Return the limit of this request's view, or None. It counts for the person or visitor, then for the address."""
    if request.method in READING:
        return READ_LIMITS.get(view_name)
    if request.method not in WRITING or not view_name:
        return None
    return LIMITS.get(view_name, None if request.path.startswith(API) else OTHERS)


def _is_form(request: HttpRequest) -> bool:
    return request.method not in READING and not request.path.startswith(API)


def _was_unreadable(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Return True for a form that was refused before its view was found. `process_view` has not counted it."""
    refused = response.status_code in (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return refused and request.resolver_match is None and _is_form(request)


def _key(name: str, kind: str, who: str) -> str:
    return f"limit:{name}:{hashed_identity(kind, who)}"


def _counted(limit: Limit, most: int | None, kind: str, who: str) -> Iterator[tuple[str, int]]:
    """Yield the keys that a request counts for, each with its limit. Yield nothing if there is no limit."""
    for name, times in networks_of(who) if kind in NETWORKS else [(who, 1)]:
        allowed = None if most is None else scaled(most * times)
        if allowed is not None:
            yield _key(limit.name, kind, name), allowed


def _over(limit: Limit, most: int | None, kind: str, who: str) -> int:
    """Count one request. Return the seconds to wait if it is over this limit, else 0."""
    waits = (limiter.wait(key, allowed, limit.seconds) for key, allowed in _counted(limit, most, kind, who))
    return next(filter(None, waits), 0)


def _reached(limit: Limit, most: int | None, kind: str, who: str) -> int:
    """Return the seconds to wait if this limit was reached a moment ago, else 0. Counts nothing."""
    waits = (limiter.refusing(key, allowed, limit.seconds) for key, allowed in _counted(limit, most, kind, who))
    return next(filter(None, waits), 0)


def _unknown_token(request: HttpRequest, token: str) -> tuple[bool, int]:
    """Return True if nobody owns this token, and the seconds to wait if its address has sent too many unknown ones."""
    # While an address is over that limit, its tokens are not looked up unless this process has counted one recently.
    address = address_of(request)
    if not limiter.counts(_key(API_CALLS.name, "token", token)):
        wait = _reached(UNKNOWN_TOKENS, UNKNOWN_TOKENS.address, "address", address)
        if wait:
            return True, wait
    if owner_of(request, token) is not None:
        return False, 0
    return True, _over(UNKNOWN_TOKENS, UNKNOWN_TOKENS.address, "address", address)


LONGEST_KEPT: Final = 200
"""The most characters of a path whose view is remembered. Anybody can send longer ones, and their paths cost memory."""


def _name_of(path: str) -> str:
    """Return the name of the view at this path, or "" if none matches."""
    return (_kept_name if len(path) <= LONGEST_KEPT else _found_name)(path)


def _found_name(path: str) -> str:
    try:
        return resolve(path).view_name
    except Resolver404:
        return ""


_kept_name: Final = lru_cache(maxsize=1024)(_found_name)  # Django finds the view of the same path again later


class Limits:
    """Middleware that answers 429 with `Retry-After` to requests over a limit.

    It comes before sessions and CSRF. Each request first counts for its address, or is refused if the address is over
    the limit of the view. The user is only known in `process_view`, so requests count for persons, tokens and visitors
    there, still before the CSRF check.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        refused = self._by_address(request) if settings.RATE_LIMITS else None
        if refused is not None:
            return refused
        response = self.get_response(request)
        if settings.RATE_LIMITS and _was_unreadable(request, response):
            _over(UNREADABLE, UNREADABLE.address, "address", address_of(request))
        return response

    def _by_address(self, request: HttpRequest) -> HttpResponse | None:
        name, address = _name_of(request.path_info), address_of(request)
        usual, special = _usual(request, name), _special(request, name)
        if usual is not None:
            wait = _over(usual, usual.address, "address", address)
            if wait:
                return too_many(request, usual.name, wait)
        if special is not None:
            wait = _reached(special, special.address, "address", address)
            for limit in (REFUSED, UNREADABLE) if _is_form(request) else ():
                wait = wait or _reached(limit, limit.address, "address", address)
            if not wait and settings.SESSION_COOKIE_NAME not in request.COOKIES and bearer_token(request) is None:
                wait = _reached(special, special.visitors, "visitor", address)
            if wait:
                return too_many(request, special.name, wait)
        return None

    def process_view(self, request: HtmxRequest, *view: object) -> HttpResponse | None:
        match = request.resolver_match
        if match is None or not settings.RATE_LIMITS:
            return None
        by_api, special = request.path.startswith(API), _special(request, match.view_name)
        if special is None and not by_api:
            return None
        who = [("person", str(request.user.pk))] if request.user.is_authenticated else []
        people = set(who)
        token = bearer_token(request) if by_api else None
        if token is not None:
            unknown, wait = _unknown_token(request, token)
            if wait:
                return too_many(request, UNKNOWN_TOKENS.name, wait)
            owner = None if unknown else owner_of(request, token)
            if owner is not None:
                who.append(("token", token))
                people.add(("person", str(owner.pk)))  # a person can have many tokens
        counted = [(API_CALLS, API_CALLS.person, *one) for one in who] if by_api else []
        if special is not None:
            address = address_of(request)
            if special.by_session and people:
                people = {("session", str(request.session.session_key))}
            counted += [(special, special.person, *one) for one in people] or [
                (special, special.visitors, "visitor", address)
            ]
            counted.append((special, special.address, "address", address))
        for limit, most, kind, name in counted:
            wait = _over(limit, most, kind, name)
            if wait:
                if kind in ("person", "session") and _is_form(request):
                    _over(REFUSED, REFUSED.address, "address", address_of(request))
                return too_many(request, limit.name, wait)
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, TooManyTries):
            return None
        return too_many(request, error.limit.name, error.wait, what=error.limit.what)


def too_many(request: HttpRequest, name: str, wait: int, *, what: str = "requests in a short time") -> HttpResponse:
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
