"""Test staff acts at one instant: with moves, and with other acts from pages that were opened at the same time (Q1).

Each round with moves makes 32 requests at once on one version of a game: 24 moves by page, fragment, API, bot and
clock, as in `test_conflicts`, and 8 posts of two staff members who pause, resume, extend and void. An act that is
refused because of a newer one is sent again. `CONFLICT_ROUNDS=500` is the long form.
"""

from __future__ import annotations

import os
import random
import re
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
from games.actions import lobby
from games.models import Appeal, AuditEntry, Case, Game, Move, Seat
from games.queries import Table, Viewer
from games.queries.verify import faults_of
from games.staff import appeals, cases, newer_acts, people, tables
from tests.conftest import Figure, person, staff
from tests.faults.test_conflicts import ROUNDS, Access, Call, Outcome, conflicting, new_match
from tests.support.codes import staff_browser
from tests.support.pages import open_table
from tests.support.tables import TWO_HANDS, now_of, table_at
from tests.support.web import CSRF, Answer, Request, Site, at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

ROUNDS_OF_PAGES: Final = int(os.environ.get("CONFLICT_ROUNDS", "1"))
REASON: Final = "Both of them asked for it"
ACTS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("pause", {}), ("pause", {}), ("resume", {}), ("extend", {"amount": 5, "unit": 1}),
    ("extend", {"amount": 7, "unit": 1}), ("void_round", {}), ("resume", {}), ("extend", {"amount": 9, "unit": 1}),
)  # fmt: skip
VOID_GAME_EVERY: Final = 3
NEWER: Final = b"Staff have acted here since you opened this page"
SEEN: Final = re.compile(rb'name="seen" value="([\d-]+)"')
DONE, OVER = "302", {"over", "void"}
REFUSED: Final = {"403", "409", "422"}


def post_act(site: Site, browser: Client, path: str, fields: dict[str, Any], when: Any = lambda: None) -> Answer:
    """Post the page of an act."""
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    headers = {
        "Cookie": f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={CSRF}",
        "X-CSRFToken": CSRF,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return site.send(Request("POST", f"/admin/{path}/", headers, urlencode({"reason": REASON, **fields})), when)


def by_staff(site: Site, browser: Client, game_id: int, act: str, fields: dict[str, Any], when: Any) -> Outcome:
    """Post the page of an act, and again as long as others have acted since."""
    path = f"games/game/{game_id}/act/{act}"
    answer = post_act(site, browser, path, fields, when)
    while NEWER in answer.body:
        seen = SEEN.search(answer.body)
        assert seen is not None
        answer = post_act(site, browser, path, fields | {"seen": seen[1].decode()})
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
        seen = {"seen": newer_acts.newest({"game_id": game.pk}, reader=ann)}
        calls += [
            partial(by_staff, site, browsers[n % 2], game.pk, act, seen | more) for n, (act, more) in enumerate(acts)
        ]
        rng.shuffle(calls)
        before = AuditEntry.objects.count()
        outcomes = at_once(calls)
        after, entries = now_of(table).game, list(AuditEntry.objects.order_by("pk")[before:])
        check(table, outcomes, after, entries)
        done.update(entry.act for entry in entries)
        done["moves"] += after.version - table.game.version
        assert faults_of(game.pk) == []
        if after.status in OVER:
            game = new_match(alice, bob)
    assert set(done) >= {"pause", "moves"}  # the others can be refused in every round of a short run
    figure(f"staff among them, done {dict(done)}")


TEXT: Final = "He wrote a rude word as his name, twice."
ANSWER: Final = "We looked at the log once more."


def pages_of_a_table(ann: User, alice: User, bob: User) -> list[tuple[str, dict[str, Any]]]:
    """Return the paths of acts at a new table, each with what its form sends."""
    game = table_at(TWO_HANDS, [alice, bob]).game
    acts: list[tuple[str, dict[str, Any]]] = [("extend", {"amount": 5, "unit": 1}), ("pause", {}), ("look", {})]
    acts.append(("remove", {"seat": 1, "owner": bob.pk, "instead": "bot"}))
    Game.objects.filter(pk=game.pk).update(deadline=timezone.now() + timedelta(hours=9))
    seen = newer_acts.newest({"game_id": game.pk}, reader=ann)
    return [(f"games/game/{game.pk}/act/{act}", more | {"seen": seen}) for act, more in acts * 2]


def pages_of_a_person(ann: User, alice: User, bob: User) -> list[tuple[str, dict[str, Any]]]:
    acts: list[tuple[str, dict[str, Any]]] = [("warn", {}), ("suspend", {"days": 5}), ("mute", {"days": 5})]
    seen = newer_acts.newest({"person_id": bob.pk}, reader=ann)
    return [(f"accounts/user/{bob.pk}/act/{act}", more | {"seen": seen}) for act, more in [*acts * 2, *acts[:2]]]


def pages_of_a_case(ann: User, alice: User, bob: User) -> list[tuple[str, dict[str, Any]]]:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    cases.report(code=code, viewer=Viewer(alice), seat=1, kind="name", text=TEXT, now=timezone.now())
    case = Case.objects.get(closed_at=None)
    fields = {"outcome": "nothing", "answer": "", "seen": newer_acts.newest({"case_id": case.pk}, reader=ann)}
    return [(f"games/case/{case.pk}/act/close_case", fields)] * 8


def pages_of_an_appeal(ann: User, alice: User, bob: User) -> list[tuple[str, dict[str, Any]]]:
    now, abe = timezone.now(), staff(f"abe{AuditEntry.objects.count()}", "admin")
    people.suspend(person_id=bob.pk, by=abe, days=365, reason=REASON, now=now)
    appeal = appeals.appeal(person_id=bob.pk, text=TEXT, now=now)
    seen = newer_acts.newest({"appeal_id": appeal.pk}, reader=ann)
    on_bob, known = f"accounts/user/{bob.pk}/act", {"seen": newer_acts.newest({"person_id": bob.pk}, reader=ann)}
    assert (seen.last_audit_id, appeal.pk) == known["seen"]
    decide = (f"games/appeal/{appeal.pk}/act/decide_appeal", {"decision": "lifted", "answer": ANSWER, "seen": seen})
    return [decide, (f"{on_bob}/lift", known), (f"{on_bob}/suspend_for_good", known), decide] * 2


def pages_of_a_host(ann: User, alice: User, bob: User) -> list[tuple[str, dict[str, Any]]]:
    host = person(f"host{User.objects.count()}")
    lobby.join(code=open_table(host, players=3).code, viewer=Viewer(alice), now=timezone.now())
    seen = newer_acts.newest({"host_id": host.pk}, reader=ann)
    acts = ("close_with_tables", "close_account", "close_with_tables", "suspend_for_good") * 2
    return [(f"accounts/user/{host.pk}/act/{act}", {"seen": seen}) for act in acts]


@pytest.mark.parametrize(
    "pages", [pages_of_a_table, pages_of_a_person, pages_of_a_case, pages_of_an_appeal, pages_of_a_host]
)
def test_of_acts_from_pages_that_were_opened_at_the_same_time_one_is_performed(
    site: Site, ann: User, alice: User, bob: User, figure: Figure, pages: Any
) -> None:
    browsers, done = [staff_browser(ann), staff_browser(staff("adam", "admin"))], Counter[str]()
    for _ in range(ROUNDS_OF_PAGES):
        forms = pages(ann, alice, bob)
        before = AuditEntry.objects.count()
        calls = [partial(post_act, site, browsers[n % 2], path, fields) for n, (path, fields) in enumerate(forms)]
        answers = at_once(calls)
        [entry] = AuditEntry.objects.order_by("pk")[before:]
        performed = [answer for answer in answers if answer.status in {302, 200}]
        refused = [answer for answer in answers if answer not in performed]
        assert (len(performed), len(refused)) == (1, 7), [answer.status for answer in answers]
        # A player who was removed before the form was read has no seat to choose any more.
        assert {answer.status for answer in refused} <= {409, 422}
        assert all(NEWER in answer.body for answer in refused)
        done[entry.act] += 1
        assert not Appeal.objects.filter(decided_at=None).exists()
    figure(f"{ROUNDS_OF_PAGES} rounds of 8 acts at one instant, one done each: {dict(done)}")
