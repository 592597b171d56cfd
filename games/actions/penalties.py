"""Tell the lines of the log that only cost their seat something: misses and false catches.

They leave the turn, the top card and everybody's choice as they were, but each is a line of its own. So they must not
stop the others, however many are sent.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from common.say import N_
from games import rules
from games.models import Move
from games.queries import Table
from games.refusals import Denied

PENALTIES: Final = {"missed", "false_catch"}
CONSEQUENCES: Final = {"drew", "reshuffled", "nothing_left"}

MOST_PENALTIES: Final = 200
"""After more lines than these a version is stale. False catches draw cards, so a deck allows no more than these."""


def is_penalty(kinds: Collection[str]) -> bool:
    """Return True if events of these kinds are a miss or a false catch, and the penalty put nobody out."""
    found = set(kinds)
    return not found.isdisjoint(PENALTIES) and found <= PENALTIES | CONSEQUENCES


def only_penalties_since(table: Table, version: int) -> bool:
    """Return True if every line of this round after a version is a penalty, and there are not too many."""
    current = table.game.version
    if not max(current - MOST_PENALTIES, table.started.round.from_version) <= version < current:
        return False
    lines = Move.objects.filter(game=table.game, n__gt=version).values_list("events", flat=True)
    return all(is_penalty(_kinds(events)) for events in lines)


def could_be_caught(table: Table, seat: int, version: int) -> bool:
    """Return True if a seat had not called UNO at a version, up to `MOST_PENALTIES` lines after it had to (UNO-2).

    Its window also closes when the time to catch runs out, which is no line: somebody who saw it open may be late too.
    """
    lines = Move.objects.filter(round=table.started.round, n__lte=version).order_by("-n")[:MOST_PENALTIES]
    for text, events in lines.values_list("text", "events"):
        for event in reversed(events):
            match event["kind"]:
                case "uno_due" if event["seat"] == seat:
                    return True
                case "called_uno" if event["seat"] == seat:
                    return False
                case "caught" if event["target"] == seat:
                    return False
        if rules.KINDS[rules.parse_move(text).kind].of_turn:
            return False  # which closed all windows (UNO-3)
    return False


def require_first_miss(table: Table, seat: int) -> None:
    """Refuse a miss of a seat that has missed since the last card was played.

    Otherwise a player could fill the log until the game is called off. Points mean little to a player who is losing.

    :raises Denied: `not_your_turn`.
    """
    version, first = table.game.version, table.started.round.from_version
    lines = Move.objects.filter(game=table.game, n__gt=max(version - MOST_PENALTIES, first)).order_by("-n")
    for its_seat, events in lines.values_list("seat", "events").iterator(chunk_size=20):
        kinds = _kinds(events)
        if "played" in kinds:
            return
        if its_seat == seat and "missed" in kinds:
            sentence = N_("You have missed already: wait until another card is played.")
            raise Denied("not_your_turn", sentence, rule="INT-4", version=version)


def _kinds(events: list[dict[str, object]]) -> set[str]:
    return {str(event["kind"]) for event in events}
