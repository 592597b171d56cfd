"""A row for each staff act: what makes it possible, what its form sends, whom it tells, and how a second send ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.db.models import QuerySet
from django.utils import timezone

from accounts.invitations import invite
from accounts.models import User
from games.clocks import pausing
from games.models import Announcement, Appeal, Case, Game, Seat, Suspension
from games.queries import Table, Viewer
from games.staff import accounts, announcement, appeals, cases, invitations, new_accounts, people, tables
from games.staff.acts import ACTS, APPEAL_ACTS, CASE_ACTS, NEW_ACCOUNT_ACTS, PERSON_ACTS, TABLE_ACTS, StaffAct
from tests.conftest import person
from tests.support.hooks import hook_of
from tests.support.pages import open_table
from tests.support.tables import NOON, now_of

MODULES: Final = (tables, people, accounts, invitations, cases, appeals, announcement, new_accounts)
PERFORM: Final[dict[StaffAct[Any], Callable[..., Any]]] = {
    act: perform for module in MODULES for act, perform in module.PERFORM.items()
}
LATER: Final = NOON.replace(year=2099)
WORDS: Final = "He wrote a rude word as his name, twice."


@dataclass
class World:
    """The table of Alice, Bob and Charlie that acts are tried at. Acts on people are on Bob, by `actor`."""

    table: Table
    actor: User
    colleague: User
    game: Game = field(init=False)

    def __post_init__(self) -> None:
        self.game = self.table.game

    def at_seat(self, seat: int) -> User:
        user = self.table.seats[seat].user
        assert user is not None
        return user

    @property
    def bob(self) -> User:
        return self.at_seat(1)

    def change_bob(self, **fields: Any) -> None:
        User.objects.filter(pk=self.bob.pk).update(**fields)

    def case(self) -> Case:
        """Return the case about Bob. Alice's report opens it the first time."""
        found = Case.objects.filter(person=self.bob).first()
        viewer = Viewer(self.at_seat(0))
        return found or cases.report(code=self.game.code, viewer=viewer, seat=1, kind="name", text=WORDS, now=NOON).case

    def closed_case(self) -> QuerySet[Case]:
        found = Case.objects.filter(pk=self.case().pk)
        found.update(closed_at=NOON, outcome="acted")
        return found

    def appeal(self) -> Appeal:
        """Return the appeal of Bob against a suspension that no audit entry is about."""
        if (found := Appeal.objects.first()) is not None:
            return found
        self.change_bob(suspended_until=LATER)
        suspension = Suspension.objects.create(person=self.bob, at=NOON, until=LATER, reason=WORDS)
        return Appeal.objects.create(suspension=suspension, at=NOON, text=WORDS)

    def row(self, act: StaffAct[Any]) -> Game | User | Case | Appeal:
        """Return what an act is on: a game, a person, a case or an appeal."""
        if act.name in TABLE_ACTS:
            return self.game
        if act.name in PERSON_ACTS:
            return self.bob
        return self.case() if act.name in CASE_ACTS else self.appeal()

    def subject(self, act: StaffAct[Any]) -> dict[str, int]:
        """Return the argument that names what an act is on."""
        if act.name == "close_with_tables":
            return {"host_id": self.bob.pk}
        for found, argument in (
            (TABLE_ACTS, "game_id"), (PERSON_ACTS, "person_id"), (CASE_ACTS, "case_id"), (APPEAL_ACTS, "appeal_id"),
        ):  # fmt: skip
            if act.name in found:
                return {argument: self.row(act).pk}
        return {"new_account_id": 0} if act.name in NEW_ACCOUNT_ACTS else {"announcement_id": Announcement.NUMBER}


def _nothing(world: World) -> None:
    pass


@dataclass(frozen=True)
class Row:
    """How an act is tried.

    fields: The arguments of its function besides those that all take.
    form: What its page sends besides the reason, if that differs.
    ready: Makes it possible.
    told: The people who are told on the site, each with the kind of notice.
    again: The code with which the same act is refused the second time, or "" if it can be repeated.
    """

    fields: Callable[[World], dict[str, Any]] = lambda world: {}
    ready: Callable[[World], object] = _nothing
    told: tuple[str, ...] = ()
    again: str = ""
    form: dict[str, Any] = field(default_factory=dict)


def _fields(**fields: Any) -> Callable[[World], dict[str, Any]]:
    return lambda world: fields


def _open_game(world: World) -> None:
    world.game = open_table(world.at_seat(0), players=3)


def _everybody(kind: str) -> tuple[str, ...]:
    return tuple(f"{name} {kind}" for name in ("alice", "bob", "charlie"))


def _run_clock(world: World) -> None:
    Game.objects.filter(pk=world.game.pk).update(deadline=timezone.now() + timedelta(hours=1))


def _miss(world: World) -> None:
    Seat.objects.filter(game=world.game, index=1).update(misses=1)


ROWS: Final[dict[str, Row]] = {
    "say": Row(_fields(said="Please wait a moment."), told=_everybody("staff_said")),
    "pause": Row(again="forbidden"),
    "resume": Row(
        ready=lambda world: pausing.pause(now_of(world.table), reason=Game.PAUSED_BY_STAFF, now=NOON),
        again="forbidden",
    ),
    "extend": Row(_fields(minutes=5), _run_clock, form={"amount": 5, "unit": 1}),
    "forgive": Row(_fields(seat=1), _miss, again="forbidden"),
    "remove": Row(
        _fields(seat=1, bot=True), told=("bob seat_moved",), again="forbidden", form={"seat": 1, "instead": "bot"}
    ),
    "move_seat": Row(
        _fields(seat=1, username="dora"),
        lambda world: person("dora"),
        ("bob seat_moved", "dora seat_moved"),
        "already_seated",
    ),
    "void_round": Row(told=_everybody("round_cancelled")),
    "void_game": Row(told=_everybody("game_over"), again="over"),
    "close": Row(ready=_open_game, told=("alice game_over",), again="over"),
    "look": Row(),
    "warn": Row(told=("bob warned",)),
    "mute": Row(_fields(days=3), told=("bob muted",)),
    "unmute": Row(ready=lambda world: world.change_bob(muted_until=LATER), told=("bob unmuted",), again="not_found"),
    "neutral_name": Row(told=("bob name_changed",), again="forbidden"),
    "end_neutral_name": Row(
        ready=lambda world: world.change_bob(neutral_name="Player 48213"), told=("bob name_changed",), again="forbidden"
    ),
    "suspend": Row(_fields(days=3), told=("bob suspended",)),
    "suspend_for_good": Row(told=("bob suspended",)),
    "lift": Row(ready=lambda world: world.change_bob(suspended_until=LATER), told=("bob lifted",), again="not_found"),
    "rename": Row(_fields(username="bob", display_name="Bobby"), told=("bob name_changed",), again="malformed"),
    "close_account": Row(again="over"),
    "close_with_tables": Row(
        ready=lambda world: open_table(world.bob, players=3), told=("bob game_over",), again="over"
    ),
    "reopen_account": Row(ready=lambda world: world.change_bob(is_active=False), again="over"),
    "set_role": Row(_fields(role="moderator"), told=("bob role_changed",), again="malformed"),
    "drop_factor": Row(
        ready=lambda world: Authenticator.objects.bulk_create(
            [
                Authenticator(user=world.bob, type=kind, data={})
                for kind in (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES)
            ]
        ),
        told=("bob factor_dropped",),
        again="not_found",
    ),
    "note_person": Row(),
    "revoke_invitations": Row(
        ready=lambda world: invite(user=world.bob, note="", days=7, now=timezone.now()), again="not_found"
    ),
    "drop_hook": Row(ready=lambda world: hook_of(world.bob), again="not_found"),
    "hold": Row(),
    "hand_over": Row(
        lambda world: {"colleague": world.colleague.pk}, told=("root case_handed_over",), again="forbidden"
    ),
    "give_back": Row(
        ready=lambda world: Case.objects.filter(pk=world.case().pk).update(holder=world.actor), again="forbidden"
    ),
    "note_case": Row(),
    "close_case": Row(_fields(outcome="nothing", answer=""), told=("alice report_settled",), again="over"),
    "change_outcome": Row(
        _fields(outcome="nothing", answer=""), World.closed_case, ("alice outcome_changed",), "forbidden"
    ),
    "reopen_case": Row(ready=World.closed_case, told=("alice outcome_changed",), again="forbidden"),
    "decide_appeal": Row(
        _fields(lift=True, answer="You are right, we are sorry."),
        told=("bob appeal_decided",),
        again="over",
        form={"decision": "lifted", "answer": "You are right, we are sorry."},
    ),
    "announce": Row(_fields(text="The site rests at noon.", until=None)),
    "end_announcement": Row(
        ready=lambda world: Announcement.objects.update_or_create(pk=Announcement.NUMBER, defaults={"text": "Noon"}),
        again="not_found",
    ),
    "make_account": Row(_fields(username="dora", email="dora@example.org"), again="malformed"),
}
"""The rows by the name of the act."""
assert set(ROWS) == set(ACTS)
