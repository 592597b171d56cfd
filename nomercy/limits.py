"""How often requests are allowed: by person or token, and by network address; far above what playing needs.

Persons, tokens and addresses are counted under a keyed hash, and forgotten with their window. Wrong passwords, codes,
sign-ups and resets have limits of their own, which survive a restart: accounts/limits.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Final

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import loader

from accounts.htmx import HtmxRequest
from accounts.limits import HOUR, MINUTE, TooManyTries, refusal, scaled
from accounts.origin import address_of, counted_as
from games.api.auth import bearer_token, owner_of
from games.refusals import Denied
from nomercy.answers import API, error_object
from nomercy.counting import Limiter
from nomercy.middleware import SAFE

log = structlog.get_logger(__name__)
limiter = Limiter()


@dataclass(frozen=True, slots=True)
class Limit:
    """So many requests in a window of so many seconds, of one person (or token) and of one address; None: any number.

    `visitors` is for what makes a guest of a visitor: so many of those from one address.
    """

    name: str
    person: int | None
    address: int | None
    seconds: int = MINUTE
    visitors: int | None = None


READS: Final = Limit("reads", None, 12_000)
API_CALLS: Final = Limit("api", 18_000, 36_000)
UNKNOWN_TOKENS: Final = Limit("unknown-tokens", None, 60)
RECORDS: Final = Limit("records", 300, 600, visitors=300)
API_TABLES: Final = Limit("api-tables", 600, 1_200)
MOVES: Final = Limit("moves", 6_000, 120_000)
TABLES: Final = Limit("tables", 30, 120, visitors=30)
SEATS: Final = Limit("seats", 60, 240, visitors=30)
REPORTS: Final = Limit("reports", 10, 40, seconds=HOUR)
LOG_INS: Final = Limit("log-ins", 60, 60)
PASSWORDS: Final = Limit("passwords", 10, 60)
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
    "account_login": LOG_INS,
    "account_change_password": PASSWORDS,
    "account_reauthenticate": PASSWORDS,
    "mfa_authenticate": PASSWORDS,
    "mfa_reauthenticate": PASSWORDS,
    "mfa_activate_totp": PASSWORDS,
    "account_email": ADDRESSES,
    "api-v1:create_game": API_TABLES,
    "api-v1:make_move": MOVES,
}
"""What is counted when something is sent (POST), by the name of the address; `OTHERS` if it is not here.

Calls of the API count as `API_CALLS` as well, everything else that is read as `READS`."""
READ_LIMITS: Final[Mapping[str, Limit]] = {"record": RECORDS, "api-v1:get_record": RECORDS}
"""What is counted when something is read that costs far more than a page, also by the name of the address."""
HEALTH: Final = frozenset({"/healthz", "/readyz"})
"""Where reading never counts: monitors and proxies ask often."""
OF_THE_API: Final = "api-v1"


def _key(name: str, kind: str, who: str) -> str:
    return f"limit:{name}:{counted_as(kind, who)}"


def _over(limit: Limit, most: int | None, kind: str, who: str) -> int:
    """Count one request; return the seconds to wait if it is over this limit, else 0."""
    allowed = None if most is None else scaled(most)
    return 0 if allowed is None else limiter.wait(_key(limit.name, kind, who), allowed, limit.seconds)


def _unknown_token(request: HttpRequest, token: str) -> tuple[bool, int]:
    """Return whether no one owns this token, and the seconds to wait if its address has sent too many such.

    While an address is over that limit the database is not asked about the tokens that it sends, unless this process
    has counted calls of the token lately.
    """
    allowed, address = scaled(UNKNOWN_TOKENS.address or 0), address_of(request)
    if allowed is not None and not limiter.counts(_key(API_CALLS.name, "token", token)):
        wait = limiter.refusing(_key(UNKNOWN_TOKENS.name, "address", address), allowed, UNKNOWN_TOKENS.seconds)
        if wait:
            return True, wait
    if owner_of(request, token) is not None:
        return False, 0
    return True, _over(UNKNOWN_TOKENS, UNKNOWN_TOKENS.address, "address", address)


def _refused(request: HttpRequest, limits: list[Limit], who: list[tuple[str, str]]) -> tuple[Limit, int] | None:
    """Return the limit that this request is over, and the seconds to wait."""
    address = address_of(request)
    for limit in limits:
        asked = [(limit.person, *one) for one in who] or [(limit.visitors, "visitor", address)]
        for most, kind, name in (*asked, (limit.address, "address", address)):
            wait = _over(limit, most, kind, name)
            if wait:
                return limit, wait
    return None


def _read_too_much(request: HttpRequest) -> HttpResponse | None:
    """Count a request that reads; return the refusal if its address has read too much."""
    if request.method not in SAFE or request.path in HEALTH:
        return None
    wait = _over(READS, READS.address, "address", address_of(request))
    return too_many(request, READS.name, wait) if wait else None


class Limits:
    """Answers 429 with `Retry-After` to requests that come too often, before anything is done."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # Here, and not by view, so that addresses where nothing is count too. Calls of the API have their own limits.
        if not request.path.startswith(API):
            refused = _read_too_much(request)
            if refused is not None:
                return refused
        return self.get_response(request)

    def process_view(self, request: HtmxRequest, *view: object) -> HttpResponse | None:
        match = request.resolver_match
        if match is None or not settings.RATE_LIMITS:
            return None
        by_api = match.namespace == OF_THE_API
        if not by_api and request.path.startswith(API):  # an address of the API where nothing is
            return _read_too_much(request)
        limits = [API_CALLS] if by_api else []
        if request.method == "POST" and (match.view_name in LIMITS or not by_api):
            limits.append(LIMITS.get(match.view_name, OTHERS))
        elif match.view_name in READ_LIMITS:
            limits.append(READ_LIMITS[match.view_name])
        if not limits:
            return None
        who = [("person", str(request.user.pk))] if request.user.is_authenticated else []
        token = bearer_token(request) if by_api else None
        if token is not None:
            unknown, wait = _unknown_token(request, token)
            if wait:
                return too_many(request, UNKNOWN_TOKENS.name, wait)
            if not unknown:
                who.append(("token", token))
        refused = _refused(request, limits, who)
        return None if refused is None else too_many(request, refused[0].name, refused[1])

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, TooManyTries):
            return None
        return too_many(request, error.limit.name, error.wait, what=error.limit.what)


def too_many(request: HttpRequest, name: str, wait: int, *, what: str = "requests in a short time") -> HttpResponse:
    """Refuse a request that is over the limit of this name. The answer asks the database nothing."""
    log.warning("too many requests", limit=name, wait=wait)
    sentence = refusal(what, wait)
    if request.path.startswith(API):
        response = error_object(Denied("too_many_requests", sentence))
    else:
        response = HttpResponse(_page(sentence), status=HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(wait)
    return response


@lru_cache(maxsize=512)  # a flood is refused with a few pages again and again, and making one is the most of the work
def _page(sentence: str) -> str:
    return loader.get_template("429.html").render({"sentence": sentence})
