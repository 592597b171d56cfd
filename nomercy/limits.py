"""How often somebody may ask: per person or token, and per address; far above what playing needs.

Counts live in the cache, in slices of a window. A request is refused while the slices that reach into the window hold
as many as allowed, so no window of that length ever takes more, but for what other processes have not told yet: each
tells the cache after every 32nd part of a limit, which costs most requests nothing. Addresses are counted under a keyed
hash and forgotten with their window. While Redis is away nobody is refused (`nomercy.cache` logs that).
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from math import ceil
from typing import Final

import structlog
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django_htmx.http import reswap

from accounts.htmx import HtmxRequest
from accounts.limits import scaled
from accounts.origin import address_of, counted_as
from games.models.paces import HOUR, MINUTE
from games.refusals import Denied
from nomercy.middleware import API, error_object

log = structlog.get_logger(__name__)

SLICES: Final = 6
UNTOLD: Final = 32
"""A process keeps at most this part of a limit to itself."""
FRESH: Final = 1.0
"""Seconds for which a process believes that a key is over its limit before it asks the cache again."""
KEPT: Final = 20_000
"""Counters a process keeps before it forgets those of windows gone by."""


@dataclass(frozen=True, slots=True)
class Limit:
    """So many requests in a window of so many seconds, of one person (or token) and of one address; None: any number.

    `visitors` is for what makes a guest of whoever is not logged in: so many of those from one address.
    """

    name: str
    person: int | None
    address: int | None
    seconds: int = MINUTE
    visitors: int | None = None


API_CALLS: Final = Limit("api", 18_000, 36_000)
API_TABLES: Final = Limit("api-tables", 600, 1_200)
MOVES: Final = Limit("moves", 6_000, 120_000)
TABLES: Final = Limit("tables", 30, 120, visitors=30)
SEATS: Final = Limit("seats", 60, 240, visitors=30)
REPORTS: Final = Limit("reports", 10, 40, seconds=HOUR)
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
    "api-v1:create_game": API_TABLES,
    "api-v1:make_move": MOVES,
}
"""What is counted when something is sent (POST), by the name of the address; `OTHERS` if it is not here. Calls of the
API count as such; logging in, signing up and passwords have limits of allauth's own as well."""


class Counter:
    """What this process has seen of one key in the slice of now, and what it knew of the window when it last asked.

    `asking` is held by who talks to the cache about this key: its other requests wait for that answer when they need
    one, and nobody else does. It goes on to the counter of the next slice, which tells what is `past`. `oldest` and
    `refused` say, once a request was over the limit, which slice leaves the window first and when that was read.
    """

    __slots__ = ("asking", "known", "oldest", "past", "refused", "slice", "untold")

    def __init__(self, number: int, past: "Counter | None") -> None:
        self.slice, self.untold = number, 0
        self.known: int | None = None
        self.oldest: int | None = None
        self.refused = 0.0
        self.past = past if past is not None and past.untold else None
        self.asking: threading.Lock = threading.Lock() if past is None else past.asking

    def admits(self, most: int) -> bool:
        """Whether all that is counted here is within the limit for sure, without asking anybody."""
        return self.known is not None and self.untold * UNTOLD < most and self.known + self.untold <= most

    def full(self, most: int, now: float) -> int | None:
        """`oldest`, if one more is over the limit by what was read a moment ago, or is being read again right now."""
        if self.known is None or self.known + self.untold < most:
            return None
        return self.oldest if now - self.refused < FRESH or self.asking.locked() else None


class Limiter:
    """Counts by key; one a process. No lock but the key's own is held while the cache is asked."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counters: dict[str, Counter] = {}

    def wait(self, key: str, most: int, seconds: int) -> int:
        """Count one; 0 if it is within the limit, else the seconds to wait, and it is not counted."""
        length, now = seconds / SLICES, self._clock()
        with self._lock:
            counter = self._counter(key, int(now / length))
            oldest = counter.full(most, now)
            if oldest is None:
                counter.untold += 1
                if counter.admits(most):
                    return 0
        if oldest is None:
            with counter.asking:
                oldest = self._ask(key, counter, most, seconds)
        return 0 if oldest is None else max(1, ceil((oldest + SLICES + 1) * length - self._clock()))

    def _counter(self, key: str, number: int) -> Counter:
        counter = self._counters.get(key)
        if counter is not None and counter.slice == number:
            return counter
        if len(self._counters) >= KEPT:
            self._counters = {k: c for k, c in self._counters.items() if c.untold}
        if len(self._counters) >= KEPT:
            self._counters.clear()
        new = self._counters[key] = Counter(number, past=counter)
        return new

    def _ask(self, key: str, counter: Counter, most: int, seconds: int) -> int | None:
        """Tell the cache what it does not know yet. None if the one that was counted is within the limit, else it is
        taken back, and this is the slice that leaves the window first. The caller holds `counter.asking`."""
        with self._lock:
            if counter.admits(most):  # somebody else has told of this one, too
                return None
            past, counter.past = counter.past, None
            told, late = counter.untold, 0
            if past is not None:
                late, past.untold = past.untold, 0
        if past is not None:
            _tell(key, past.slice, late, seconds)
        _tell(key, counter.slice, told, seconds)
        window = _window(key, counter.slice)
        with self._lock:
            counter.untold -= told
            counter.known = max(sum(window.values()), told)
            if counter.known + counter.untold <= most:
                return None
            counter.oldest = min((number for number, count in window.items() if count > 0), default=counter.slice)
            counter.refused = self._clock()
            untold = counter.untold > 0
            if untold:
                counter.untold -= 1
            else:
                counter.known -= 1
        if not untold:
            _tell(key, counter.slice, -1, seconds)
        return counter.oldest


def _tell(key: str, number: int, count: int, seconds: int) -> None:
    if not count:
        return
    name = f"{key}:{number}"
    cache.add(name, 0, timeout=2 * seconds)
    try:
        cache.incr(name, count)
    except ValueError:  # it ran out between the two
        cache.set(name, max(0, count), timeout=2 * seconds)


def _window(key: str, number: int) -> dict[int, int]:
    """What all have told of each slice that reaches into the window."""
    found = cache.get_many([f"{key}:{n}" for n in _slices(number)])
    return {n: found.get(f"{key}:{n}", 0) for n in _slices(number)}


def _slices(number: int) -> range:
    """The slices that reach into the window, oldest first."""
    return range(number - SLICES, number + 1)


limiter = Limiter()


def _key(name: str, kind: str, who: str) -> str:
    return f"limit:{name}:{counted_as(kind, who)}"


def _who(request: HttpRequest) -> list[tuple[str, str]]:
    """The person of the session and, in the API, the token, each of which is counted; none for a visitor.

    Nobody knows yet whether the token is good. A bad one gives nobody a count of their own: beside a session the person
    is counted too, and alone it opens nothing, and the address is counted.
    """
    who = [("person", str(request.user.pk))] if request.user.is_authenticated else []
    match = request.resolver_match
    # Split as the API splits it, so that one token cannot be written as many.
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if match is not None and match.namespace == "api-v1" and scheme.lower() == "bearer":
        who.append(("token", token))
    return who


def _refused(request: HttpRequest, limits: list[Limit]) -> tuple[Limit, int] | None:
    """The limit that this request is over, and the seconds to wait."""
    who, address = _who(request), address_of(request)
    for limit in limits:
        asked = [(limit.person, *one) for one in who] or [(limit.visitors, "visitor", address)]
        for most, kind, name in (*asked, (limit.address, "address", address)):
            allowed = None if most is None else scaled(most)
            if allowed is not None:
                wait = limiter.wait(_key(limit.name, kind, name), allowed, limit.seconds)
                if wait:
                    return limit, wait
    return None


class Limits:
    """Answers 429 with `Retry-After` to whoever asks too often, before anything is done."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code == 429 and not response.has_header("Retry-After"):
            response["Retry-After"] = str(MINUTE)  # allauth's own say none
        return response

    def process_view(self, request: HtmxRequest, *view: object) -> HttpResponse | None:
        match = request.resolver_match
        if match is None or not settings.RATE_LIMITS:
            return None
        by_api = match.namespace == "api-v1"
        limits = [API_CALLS] if by_api else []
        if request.method == "POST" and (match.view_name in LIMITS or not by_api):
            limits.append(LIMITS.get(match.view_name, OTHERS))
        refused = _refused(request, limits) if limits else None
        return None if refused is None else too_many(request, *refused)


def too_many(request: HtmxRequest, limit: Limit, wait: int) -> HttpResponse:
    log.warning("too many requests", limit=limit.name, wait=wait)
    if request.path.startswith(API):
        message = f"Too many requests in a short time: try again in {wait} seconds."
        response = error_object(Denied("too_many_requests", message))
    elif request.htmx:
        # The page stays as it is; it asks again by itself, or its reader does.
        response = reswap(HttpResponse(status=HTTPStatus.TOO_MANY_REQUESTS), "none")
    else:
        response = render(request, "429.html", status=429)
    response["Retry-After"] = str(wait)
    return response
