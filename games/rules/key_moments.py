"""The key moments of a match: knock-outs, big stacks and changes of the lead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from games.rules.events import Event
from games.rules.notation import parse_move
from games.rules.options import Options
from games.rules.scoring import Outcome

BIG_STACK: Final = 10
"""The least number of owed cards that make a key moment."""

TELLING: Final[tuple[Mapping[str, str], ...]] = (
    {"kind": "knocked_out"},
    {"kind": "left"},
    {"kind": "owes"},
    {"kind": "drew", "reason": "stack"},
    {"kind": "drew", "reason": "debt"},
    {"kind": "nothing_left"},
    {"kind": "stack_gone"},
)
"""Fields of the events that ``key_moments`` reads. Lines without such an event need not be given."""


class LoggedMove(NamedTuple):
    """A line of the log: its number in the match, the text of the move, and its events."""

    n: int
    text: str
    events: Sequence[Event]


class LoggedRound(NamedTuple):
    """A round of a match and those of its lines that have an event as in ``TELLING``, in order.

    ``end`` is the number of its last line. ``outcome`` is None for a round that was called off or that staff voided.
    ``absent`` are the seats that left in an earlier round.
    """

    number: int
    end: int
    outcome: Outcome | None
    absent: Collection[int]
    lines: Iterable[LoggedMove]


class KeyMoment(NamedTuple):
    """A key moment: what can be seen after line ``n``, in round ``round``.

    - ``knocked_out``: ``seat`` reaches the mercy limit.
    - ``took_stack``: ``seat`` draws a stack of ``amount`` cards.
    - ``stack``: a stack has its most cards, ``amount``, and ``seat`` owes them. Nobody draws them later.
    - ``lead``: ``seat`` has the best score alone, ``amount`` points, and another seat had it before.
    """

    n: int
    round: int
    kind: Literal["knocked_out", "took_stack", "stack", "lead"]
    seat: int
    amount: int = 0


def key_moments(rounds: Iterable[LoggedRound], options: Options, players: int) -> list[KeyMoment]:
    """Return the key moments of a match in the order of its log.

    A single round has no changes of the lead: who holds the fewest cards changes every few moves. A tie for the best
    score does not change the lead, and players who have left do not have it. Who is knocked out by the first discard of
    a round (FIRST-1) has no line in the log, and so is no key moment.
    """
    found: list[KeyMoment] = []
    scores, leader = [0] * players, None
    best = max if options.scoring == "winner" else min
    for round_ in rounds:
        gone = set(round_.absent)
        found += _moments_of_round(round_, gone)
        if round_.outcome is None or not options.is_match:
            continue
        scores = [score + round_.outcome.gained(seat) for seat, score in enumerate(scores)]
        inside = [seat for seat in range(players) if seat not in gone]
        first = [seat for seat in inside if scores[seat] == best(scores[other] for other in inside)]
        if len(first) == 1 and first[0] != leader:
            if leader is not None:
                found.append(KeyMoment(round_.end, round_.number, "lead", first[0], scores[first[0]]))
            leader = first[0]
    return found


class _Stack(NamedTuple):
    """An open stack: how many cards it has, who owes them, and the line since which it has so many."""

    size: int
    debtor: int
    since: int


def _moments_of_round(round_: LoggedRound, gone: set[int]) -> list[KeyMoment]:
    """Return the knock-outs and big stacks of a round. Adds the seats that leave to ``gone``."""
    found: list[KeyMoment] = []
    stack: _Stack | None = None

    def close(taken_by: int | None, n: int) -> None:
        if stack is None or stack.size < BIG_STACK:
            return
        if taken_by is None:
            found.append(KeyMoment(stack.since, round_.number, "stack", stack.debtor, stack.size))
        else:
            found.append(KeyMoment(n, round_.number, "took_stack", taken_by, stack.size))

    for n, text, events in round_.lines:
        # Where no card is left to draw, only the move tells that its player has paid.
        pays = parse_move(text).kind in ("take", "challenge")
        for event in events:
            if event.kind == "owes" and event.amount:
                # A stack that is passed on keeps its size.
                if stack is None or event.amount != stack.size:
                    stack = _Stack(event.amount, event.seat, n)
                pays = True
            elif (event.kind == "drew" and event.reason in ("stack", "debt")) or (
                event.kind == "nothing_left" and pays
            ):
                close(event.seat, n)
                stack = None
            elif event.kind == "stack_gone":
                close(None, n)
                stack = None
            elif event.kind == "knocked_out":
                found.append(KeyMoment(n, round_.number, "knocked_out", event.seat))
            elif event.kind == "left":
                gone.add(event.seat)
    close(None, round_.end)
    return sorted(found, key=lambda moment: moment.n)
