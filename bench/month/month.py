"""The simulated month: a queue of visits, and the beat between them, on one fake clock."""

from __future__ import annotations

import heapq
import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Final
from unittest.mock import patch
from zoneinfo import ZoneInfo

from allauth.account.models import EmailAddress
from django.db.models import F, Min

from accounts import actions as accounts_actions
from accounts.models import User
from accounts.time_off import LONGEST_QUIET
from bench.month.interruptions import Outage, Pauses, outages, running_clocks, time_lost
from bench.month.people import BED, CHARACTERS, RISE, ZONES, Person
from games import announce, bots, queries, rules
from games.actions import bot_turn, lobby, pauses, play, standing_orders, sweep
from games.clocks import quiet_hours, vacations
from games.models import Game, Hand, Heartbeat, Move, Seat, rows
from games.models.notices import Notice
from games.models.orders import orders_of
from games.notices import preferences, reminders
from games.notices.kinds import DEADLINE, DIGEST, TURN
from games.queries import Table, Viewer, lists
from games.refusals import Denied
from mail import outbox
from mail.channels.base import NEAR
from tests.support.mail import MailServer, parsed

START: Final = datetime(2027, 3, 1, 0, 0, tzinfo=UTC)
"""Europe and America change their clocks within the month that follows."""
BEAT: Final = timedelta(seconds=2)
MAIL_BEAT: Final = timedelta(seconds=5)
"""How often the beat runs, as in `nomercy.celery`. Beats with nothing due are skipped."""
PRESETS: Final = tuple(rules.PRESETS)
"""The presets of the tables, in turn."""
PACES: Final = ("fast", "fast", "standard", "standard", "slow")
TURN_KINDS: Final = frozenset({TURN, DEADLINE})
"""Mails that may come at night: of a turn that ends soon after it, and a summary at its chosen hour."""
ORDERS: Final = {"forced": True, "stop": ()}
"""The standing orders of everybody in a month with orders: a turn in which only one card fits waits for nobody."""
EXPECTED: Final = frozenset({"stale", "over", "not_your_turn", "paused", "nothing_owed", "nobody_to_catch"})
"""Refusals of a move that are fine, because the game has changed meanwhile."""


@dataclass(slots=True)
class MonthResults:
    """The results of the month. `faults` must stay empty."""

    visits: int = 0
    lateness: list[float] = field(default_factory=list)
    events: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Month:
    """A month with a number of games, and half as many people as seats for people.

    With `orders` all of them have `ORDERS`, and give them again at their next visit after a round has ended.
    """

    def __init__(self, *, games: int, days: int, seed: int, server: MailServer, orders: bool = False) -> None:
        self.days, self.games, self.server, self.orders = days, games, server, orders
        self.rng = random.Random(seed)
        self.now = START
        self.results = MonthResults()
        self.pauses = Pauses(self.rng, self.results.events, self.results.faults)
        self.worker_is_away = False
        self.woken: list[int] = []
        self.rested: list[tuple[int, int]] = []
        self._order = count()
        self._queue: list[tuple[datetime, int, Callable[[], None]]] = []
        self._mails = 0
        self.people = [self._person(n) for n in range(max(12, games // 2))]
        self._by_address = {person.user.email: person for person in self.people}

    def _person(self, n: int) -> Person:
        character = self.rng.choices(CHARACTERS, [one.share for one in CHARACTERS])[0]
        zone = ZONES[n % len(ZONES)]
        sleeps = self.rng.random() < 0.8
        user = User.objects.create_user(username=f"person{n}", email=f"person{n}@example.org")
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        accounts_actions.update_profile(user=user, display_name="", time_zone=zone, now=START)
        accounts_actions.update_time_off(
            user_id=user.pk,
            quiet_from=BED if sleeps else None,
            quiet_to=RISE if sleeps else None,
            auto_vacation=character.automatic,
            now=START,
        )
        return Person(User.objects.get(pk=user.pk), character, ZoneInfo(zone), sleeps)

    def run(self) -> MonthResults:
        """Run the month."""
        for n in range(self.games):
            self._at(START + timedelta(hours=self.rng.uniform(0, 120)), partial(self._open_table, n))
        for person in self.people:
            for day in range(self.days):
                for at in person.visits_of_day(START + timedelta(days=day), self.rng):
                    self._at(at, partial(self._visit, person))
            if person.character.away and person.character.says_so:
                first, length = person.character.away
                self._at(START + timedelta(days=first), partial(self._leave_for, person, length))
        end = START + timedelta(days=self.days)
        Heartbeat.objects.get_or_create(pk=1)
        with self._one_machine():
            for outage in outages(self.rng, start=START, days=self.days):
                self._run_until(outage.begins)
                self._fail(outage)
            self._run_until(end)
        self.now = end
        self.look_for_the_stuck()
        return self.results

    def _run_until(self, end: datetime) -> None:
        while (tick := self._next_tick()) < end:
            if self._queue and self._queue[0][0] < tick:
                self.now, _, happen = heapq.heappop(self._queue)
                self._sweep_is_alive(self.now)
                happen()
            else:
                self.now = tick
                self._beat()

    def _fail(self, outage: Outage) -> None:
        """Run this outage. Visits are delayed if pages do not answer. Then all clocks must have their time back."""
        self.now, self.worker_is_away = outage.begins, True
        self._sweep_is_alive(self.now)
        before = running_clocks()
        while self._queue and self._queue[0][0] < outage.ends:
            self.now, _, happen = heapq.heappop(self._queue)
            if outage.pages:
                happen()
            else:
                self._at(outage.ends + timedelta(minutes=self.rng.uniform(0, 60)), happen)
        self.now, self.worker_is_away = outage.ends, False
        self._sweep()
        self.results.faults += time_lost(outage, before)
        self.results.events["outages, pages answering" if outage.pages else "outages"] += 1

    def _at(self, moment: datetime, what: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (moment, next(self._order), what))

    @contextmanager
    def _one_machine(self) -> Iterator[None]:
        """Run without open pages, and with workers that get only what the sweep sends, so it must find all that is due.

        The database uses the fake clock, too.
        """
        with (
            patch.object(rows, "skew_between", lambda asked_at, moment: timedelta()),
            patch.object(announce, "after_commit", lambda game, wake=True: None),
            patch.object(announce, "wake_bots", lambda game_id, wake_at: self.woken.append(game_id)),
            patch.object(announce, "time_off_changed", lambda user_id, after=0: self.rested.append((user_id, after))),
        ):
            yield

    def _next_tick(self) -> datetime:
        """Return the time of the next beat at which anything is due."""
        running = Game.objects.filter(status=Game.Status.PLAYING, paused_at=None)
        due = running.aggregate(clock=Min("deadline"), bots=Min("wake_at"), reminder=Min("remind_at"))
        windows = Hand.objects.filter(round__game__in=running, round_id=F("round__game__round_id"))
        bots_late = due["bots"] + sweep.GRACE if due["bots"] else None
        clocks = (due["clock"], bots_late, windows.aggregate(at=Min("callout_until"))["at"])
        mails = (due["reminder"], Notice.objects.filter(state=Notice.State.WAITING).aggregate(at=Min("due_at"))["at"])
        hour = self.now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)  # summaries go out on the hour
        return min(self._raster(clocks, BEAT) or hour, self._raster(mails, MAIL_BEAT) or hour, hour)

    def _raster(self, moments: Iterable[datetime | None], step: timedelta) -> datetime | None:
        """Return the first beat after now at which one of these moments has come."""
        soonest = min((moment for moment in moments if moment is not None), default=None)
        if soonest is None:
            return None
        steps = max(math.floor((self.now - START) / step) + 1, math.ceil((soonest - START) / step))
        return START + steps * step

    def _sweep_is_alive(self, at: datetime) -> None:
        """Store a sign of life of the sweep, as the skipped beats would have done."""
        Heartbeat.objects.filter(pk=1).update(at=at)

    def _beat(self) -> None:
        """Run what the beat starts: the sweep, the bots it asks for, and at times reminders and mails."""
        late = Game.objects.filter(status=Game.Status.PLAYING, paused_at=None, deadline__lte=self.now)
        self.results.lateness += [(self.now - game.deadline).total_seconds() for game in late if game.deadline]
        self._sweep_is_alive(self.now - BEAT)
        self._sweep()
        if not (self.now - START) % MAIL_BEAT:
            reminders.remind(now=self.now)
            preferences.write_digests(now=self.now)
            outbox.deliver(clock=lambda: self.now)
            self._read_mail()
        if not (self.now - START) % timedelta(hours=1):
            self.pauses.end_old(self.now)
            self._look_into_the_night()

    def _sweep(self) -> None:
        """Let the clocks act, and the bots that they wake."""
        swept = sweep.sweep(clock=lambda: self.now)
        if swept.failed:
            self.results.faults.append(f"{self.now}: the clock could not act in {swept.failed} games")
        self._follow_time_off()
        woken, self.woken = set(self.woken), []
        for game_id in sorted(woken):
            bot_turn.play_bots(game_id=game_id, clock=lambda: self.now, rng=self.rng)

    def _follow_time_off(self) -> None:
        """Run the tasks that were queued when vacations began or ended."""
        while self.rested:
            user_id, after = self.rested.pop()
            quiet_hours.follow_time_off(user_id=user_id, now=self.now, after=after)

    def _open_table(self, n: int) -> None:
        seats = self.rng.randint(2, 6)
        machines = self.rng.randint(0, seats - 2)
        choices = lobby.TableChoices(
            preset=PRESETS[n % len(PRESETS)],
            players=seats,
            bots=machines,
            pace=self.rng.choice(PACES),
            bot_pause=self.rng.choice((0.0, 3.0)),
            after_misses=self.rng.choice(("bot", "leave")),
            target=500 if n % 20 == 0 else 0,
        )
        host, *guests = self.rng.sample(self.people, seats - machines)
        table = lobby.create_table(user=host.user, choices=choices, now=self.now)
        for guest in guests:
            lobby.join(code=table.game.code, viewer=Viewer(guest.user), now=self.now)
        for person in (host, *guests):
            self._give_orders(person)

    def _give_orders(self, person: Person) -> None:
        """Give this person's orders at each table where they have none for their turn, in a month with orders."""
        if not self.orders:
            return
        for seat in person.user.seats.filter(left=False, game__status=Game.Status.PLAYING).select_related("game"):
            if not orders_of(seat).of_turn:
                viewer = Viewer(person.user)
                standing_orders.set_orders(code=seat.game.code, viewer=viewer, fields=ORDERS, now=self.now)

    def _leave_for(self, person: Person, days: int) -> None:
        vacations.start(user=person.user, days=days, now=self.now)
        if not self.worker_is_away:
            self._follow_time_off()
        self.results.events["vacations begun"] += 1

    def _visit(self, person: Person) -> None:
        """Visit the site: take seats back from bots, vote on pauses, and play the turns of this person."""
        if not person.present(self.now, START):
            return
        self.results.visits += 1
        seats = person.user.seats.filter(left=False, game__status=Game.Status.PLAYING).exclude(bot="")
        for code in list(seats.values_list("game__code", flat=True)):
            pauses.take_seat_back(code=code, viewer=Viewer(person.user), now=self.now)
            self.results.events["seats taken back"] += 1
        self._give_orders(person)
        self.pauses.visit(person, self.now)
        for _ in range(3):  # the same person may be on turn again at once
            for game in lists.waiting_for(person.user):
                self._play(person, game)

    def _play(self, person: Person, game: Game) -> None:
        table = queries.load(game)
        seat = queries.require_seat(table, person.user)
        while table.game.status == Game.Status.PLAYING and table.started.position.turn == seat:
            text = self._choice(person, table, seat)
            try:
                table = play.play_move(
                    code=game.code,
                    viewer=Viewer(person.user),
                    text=text,
                    version=table.game.version,
                    token=f"{table.game.version}",
                    now=self.now,
                )
            except Denied as denied:
                if denied.code not in EXPECTED:
                    self.results.faults.append(f"{self.now} {game.code}: {text} was refused: {denied.code}")
                return
            if text == "leave":
                self.results.events["resigned"] += 1
                return

    def _choice(self, person: Person, table: Table, seat: int) -> str:
        position = table.started.position
        if self.rng.random() < person.character.resigns:
            return "leave"
        legal = rules.legal_moves(position, seat, table.options)
        view = rules.view_for(position, seat, table.options)
        move = bots.BOTS["careful"].choose(view, legal, self.rng)
        return str(move or next(move for move in legal if move.kind != "catch"))

    def _read_mail(self) -> None:
        """Count mails at night, and let some receivers visit soon after."""
        taken = self.server.taken
        for envelope in taken[self._mails :]:
            person = self._by_address[envelope.rcpt_tos[0]]
            if person.sleeps and not person.awake(self.now):
                kind = parsed(envelope.original_content or b"")["List-Id"].strip("<").split(".")[0]
                self.results.events[f"mails in the night, {kind}"] += 1
                if kind != DIGEST and not (kind in TURN_KINDS and self._is_pressed(person)):
                    self.results.faults.append(f"{self.now}: a mail of the kind {kind} came in {person.user}'s night")
            if self.rng.random() < person.character.answers:
                later = timedelta(minutes=self.rng.uniform(5, 120))
                self._at(self.now + later, partial(self._visit, person))
        self._mails = len(taken)

    def _is_pressed(self, person: Person) -> bool:
        """Return True if a turn of this person ends so soon after the night that its mail cannot wait."""
        morning = person.user.time_off.quiet_end(self.now)
        return lists.waiting_for(person.user).filter(deadline__lt=morning + NEAR).exists()

    def _look_into_the_night(self) -> None:
        """Note as faults the deadlines in their player's night.

        Two are allowed there: one that quiet hours have moved as far as they may, and one that was near when the player
        changed the quiet hours or the time zone.
        """
        cap = int(LONGEST_QUIET.total_seconds())
        running = Game.objects.filter(status=Game.Status.PLAYING, deadline__isnull=False, quiet_seconds_added__lt=cap)
        on_turn = Seat.objects.filter(game__in=running, index=F("game__round__turn"), user__isnull=False)
        for seat in on_turn.select_related("user", "game"):
            user, deadline = seat.user, seat.game.deadline
            if user is None or deadline is None:
                continue
            if user.time_off.out_of_quiet_hours(deadline, turn_since=seat.game.turn_since) != deadline:
                self.results.faults.append(f"{seat.game.code}: the deadline {deadline} lies in the night of {user}")

    def look_for_the_stuck(self) -> None:
        for game in Game.objects.filter(status__in=(Game.Status.OPEN, Game.Status.PLAYING)):
            due = game.deadline or game.wake_at
            if game.paused_at is not None:
                due = game.paused_at + Game.LONGEST_PAUSE + timedelta(hours=1)
            if game.status == Game.Status.OPEN or due is None or due < self.now - BEAT * 2:
                self.results.faults.append(f"{game.code} is stuck: {game.status}, due {due}")

    @staticmethod
    def _hours_of_turns() -> list[float]:
        """Return how many hours after the line before it each turn move of a person, or for one, was made."""
        people = set(Seat.objects.filter(user__isnull=False).values_list("game_id", "index"))
        before: dict[int, datetime] = {}
        hours = []
        lines = Move.objects.order_by("round_id", "n").values_list("round_id", "game_id", "seat", "text", "at")
        for round_id, game_id, seat, text, at in lines:
            kind = text.removeprefix("clock ").split()[0]
            if round_id in before and kind in rules.TURN_MOVES and (game_id, seat) in people:
                hours.append((at - before[round_id]) / timedelta(hours=1))
            before[round_id] = at
        return hours

    def summary(self) -> Iterator[str]:
        """Yield the figures, one a line."""
        states = Counter(Game.objects.values_list("status", flat=True))
        texts = Move.objects.values_list("text", "seat")
        by_clock = sum(text.startswith("clock ") for text, _ in texts)
        yield f"games: {self.games}, finished {states[Game.Status.OVER]}, running {states[Game.Status.PLAYING]}"
        presets = Counter(Game.objects.values_list("preset", flat=True))
        yield f"presets: {', '.join(f'{name} {presets[name]}' for name in PRESETS)}"
        yield f"people: {len(self.people)}, visits {self.results.visits}"
        yield f"log lines: {len(texts)}, of the clock {by_clock}"
        hours = self._hours_of_turns()
        yield f"turn moves of people: {len(hours)}, each after {statistics.mean(hours):.2f} hours on average"
        yield f"turn moves of standing orders: {Move.objects.filter(by_order=True).count()}"
        for name, number in sorted(self.results.events.items()):
            yield f"{name}: {number}"
