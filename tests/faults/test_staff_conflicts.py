"""Test staff acts at the instant of moves: pausing, resuming, extending and voiding (Q1).

Each round makes 32 requests at once on one version of a game: 24 moves by page, fragment, API, bot and clock, as in
`test_conflicts`, and 8 posts of two staff members. `CONFLICT_ROUNDS=500` is the long form.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import rules
from games.models import AuditEntry, Game, Move, Seat
from games.queries import Table
from games.queries.verify import faults_of
from games.staff import tables
from tests.conftest import Figure, staff
from tests.faults.test_conflicts import ROUNDS, Access, Call, Outcome, conflicting, new_match
from tests.support.codes import staff_browser
from tests.support.tables import now_of
from tests.support.web import CSRF, Request, Site, at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

REASON: Final = "Both of them asked for it"
ACTS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("pause", {}), ("pause", {}), ("resume", {}), ("extend", {"minutes": 5}), ("extend", {"minutes": 7}),
    ("void_round", {}), ("resume", {}), ("extend", {"minutes": 9}),
)  # fmt: skip
VOID_GAME_EVERY: Final = 5
DONE, OVER = "302", {"over", "void"}
REFUSED: Final = {"403", "409", "422"}


def by_staff(site: Site, browser: Client, game_id: int, act: str, fields: dict[str, Any], when: Any) -> Outcome:
    """Post the confirmation page of an act."""
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    headers = {
        "Cookie": f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={CSRF}",
        "X-CSRFToken": CSRF,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    path = f"/admin/games/game/{game_id}/act/{act}/"
    answer = site.send(Request("POST", path, headers, urlencode({"reason": REASON, **fields})), when)
    return Outcome(f"staff {act}", f"{answer.status}", None)


def check(table: Table, outcomes: list[Outcome], after: Game, entries: list[AuditEntry]) -> None:
    """Check that at most one move was made, that each act has one entry, and that every answer was a proper one."""
    lines = list(Move.objects.filter(game=table.game, n__gt=table.game.version).order_by("n"))
    assert [line.n for line in lines] == list(range(table.game.version + 1, after.version + 1)), outcomes
    moved = [one for one in outcomes if one.result == "ok"]
    by_people = [line for line in lines if not line.text.startswith("clock ")]
    assert len(moved) == len(by_people) <= 1, outcomes
    assert not any(one.result == "busy" or one.result.startswith("5") for one in outcomes), outcomes
    acted = [one for one in outcomes if one.via.startswith("staff")]
    assert {one.result for one in acted} <= {DONE, *REFUSED}, outcomes
    done = Counter(one.via.removeprefix("staff ") for one in acted if one.result == DONE)
    found = Counter(entry.act for entry in entries)
    # When the game is over, the page of an act redirects to the game and says that nothing was done.
    assert found == done or (after.status in OVER and not found - done), (found, outcomes)
    assert all(table.game.version <= (entry.version or 0) <= after.version for entry in entries), entries
    assert (after.paused_at is not None) == bool(after.paused_reasons), outcomes


def test_simultaneous_moves_and_staff_acts_are_applied_one_by_one(
    site: Site, ann: User, alice: User, bob: User, figure: Figure
) -> None:
    rng, access_by_user = random.Random(32), {user.pk: Access.of(user) for user in (alice, bob)}
    browsers = [staff_browser(ann), staff_browser(staff("adam", "admin"))]
    done: Counter[str] = Counter()
    game = new_match(alice, bob)
    for number in range(ROUNDS):
        in_a_moment = timezone.now() + timedelta(milliseconds=rng.randrange(30, 150))
        if now_of(Table(game, [], rules.PRESETS["no-mercy"])).game.paused_reasons:
            tables.resume(game_id=game.pk, by=ann, reason=REASON, now=timezone.now())
        Game.objects.filter(pk=game.pk, deadline__isnull=False).update(deadline=in_a_moment)
        Seat.objects.filter(game=game, user__isnull=False).update(bot="", misses=0)
        table = now_of(Table(game, [], rules.PRESETS["no-mercy"]))
        acts = [*ACTS[:-1], ("void_game", {}) if number % VOID_GAME_EVERY == VOID_GAME_EVERY - 1 else ACTS[-1]]
        calls: list[Call] = rng.sample(conflicting(site, table, access_by_user, rng), 24)
        calls += [partial(by_staff, site, browsers[n % 2], game.pk, act, more) for n, (act, more) in enumerate(acts)]
        rng.shuffle(calls)
        seen = AuditEntry.objects.count()
        outcomes = at_once(calls)
        after, entries = now_of(table).game, list(AuditEntry.objects.order_by("pk")[seen:])
        check(table, outcomes, after, entries)
        done.update(entry.act for entry in entries)
        done["moves"] += after.version - table.game.version
        assert faults_of(game.pk) == []
        if after.status in OVER:
            game = new_match(alice, bob)
    assert set(done) >= {"pause", "extend", "moves"}
    figure(f"staff among them, done {dict(done)}")
