"""The oracle's table: a position, read from JSON and written to it (docs/notation.md, "Position")."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.rules.oracle_cards import (
    color_of,
    colors_of,
    face,
    is_card,
    symbol,
)
from tests.rules.oracle_json import (
    BadInputError,
    list_of,
    object_of,
    one_of,
    seats_of,
    text_of,
    true_or_false,
    whole,
)
from tests.rules.oracle_options import Options

PHASES = ["play", "drawn", "choose_color", "buzz", "over"]


@dataclass
class Debt:
    """Owed cards: how many, and value and symbol of the last draw card on it (RESP-2)."""

    total: int
    value: int
    by: str


@dataclass
class Run:
    """An open straight (RUN-1)."""

    seat: int
    card: str


@dataclass
class Challenge:
    """The right of the seat on turn to challenge `seat` (BLUFF-1)."""

    seat: int
    bluff: bool


@dataclass
class Buzz:
    """An open race (BUZZ-2)."""

    by: int
    pressed: list[int]


@dataclass
class Table:
    hands: list[list[str]]
    turn: int
    discard_pile: list[str]
    out: list[int] = field(default_factory=list)
    direction: int = 1
    draw_pile: list[str] = field(default_factory=list)
    color: str | None = None
    pending: Debt | None = None
    phase: str = "play"
    drawn: str | None = None
    set_aside: list[str] = field(default_factory=list)
    declared: list[int] = field(default_factory=list)
    exposed: list[int] = field(default_factory=list)
    going_out: list[int] = field(default_factory=list)
    reshuffles: int = 0
    winner: int | None = None
    points: int | list[int] | None = None
    side: str | None = None
    run: Run | None = None
    challenge: Challenge | None = None
    buzz: Buzz | None = None
    buzzes: int = 0
    passes: int = 0
    fines: list[int] = field(default_factory=list)

    def top(self) -> str:
        """Return the face of the top card that is in force."""
        return face(self.discard_pile[-1], self.side)

    def still_in(self) -> list[int]:
        """Return the players still in. A player who went out on a stack is still in (TERM-1)."""
        return [seat for seat in range(len(self.hands)) if seat not in self.out]


def cards_of(value: object, name: str, options: Options) -> list[str]:
    cards = [text_of(card, name) for card in list_of(value, name)]
    if not all(is_card(card, options.deck, options.buzzers) for card in cards):
        raise BadInputError(f"{name} holds an unknown card")
    return cards


def table_from_json(value: object, options: Options) -> Table:
    """Read a position's values. `oracle_checks.check` then looks whether it is possible.

    :raises BadInputError: if a field is missing, unknown or of a wrong value.
    """
    given = object_of(value, "position", set(Table.__dataclass_fields__), {"hands", "turn", "discard_pile"})
    hands = [cards_of(hand, "hands", options) for hand in list_of(given["hands"], "hands")]
    players = len(hands)
    if not 2 <= players <= options.most_players:
        raise BadInputError("too few or too many hands")
    discard = cards_of(given["discard_pile"], "discard_pile", options)
    if not discard:
        raise BadInputError("discard_pile is empty")
    table = Table(
        hands=hands,
        turn=whole(given["turn"], "turn", 0, players - 1),
        discard_pile=discard,
        out=seats_of(given.get("out", []), "out", players),
        direction=whole(given.get("direction", 1), "direction"),
        draw_pile=cards_of(given.get("draw_pile", []), "draw_pile", options),
        phase=one_of(given.get("phase", "play"), "phase", PHASES),
        set_aside=cards_of(given.get("set_aside", []), "set_aside", options),
        declared=seats_of(given.get("declared", []), "declared", players),
        exposed=seats_of(given.get("exposed", []), "exposed", players),
        going_out=seats_of(given.get("going_out", []), "going_out", players),
        reshuffles=whole(given.get("reshuffles", 0), "reshuffles", 0),
        fines=[0] * players,
    )
    if table.direction not in (1, -1):
        raise BadInputError("direction is neither 1 nor -1")
    read_old_fields(table, given, options)
    read_new_fields(table, given, options)
    return table


def read_old_fields(table: Table, given: dict[str, object], options: Options) -> None:
    """Read the fields of every position that may be null, and the side, which the others need."""
    if options.is_flip:
        table.side = "light"  # FLIP-1
        if given.get("side") is not None:
            table.side = one_of(given["side"], "side", ["light", "dark"])
    table.color = color_of(table.top())
    if given.get("color") is not None:  # null means the same as a missing color
        table.color = one_of(given["color"], "color", colors_of(table.side))
    if given.get("drawn") is not None:
        table.drawn = cards_of([given["drawn"]], "drawn", options)[0]
    if given.get("pending") is not None:
        owed = object_of(given["pending"], "pending", {"total", "value", "by"}, {"total", "value"})
        by = symbol(table.top()) if owed.get("by") is None else text_of(owed["by"], "by")
        table.pending = Debt(whole(owed["total"], "total", 0), whole(owed["value"], "value", 0), by)
    if given.get("winner") is not None:
        table.winner = whole(given["winner"], "winner", 0, len(table.hands) - 1)
    points = given.get("points")
    if isinstance(points, list):
        table.points = [whole(point, "points") for point in points]
        if len(points) != len(table.hands):
            raise BadInputError("points are not one a seat")
    elif points is not None:
        table.points = whole(points, "points")


def read_new_fields(table: Table, given: dict[str, object], options: Options) -> None:
    """Read the fields that are left out while they say nothing. One that the options give no meaning is refused."""
    players = len(table.hands)
    meaningful = {
        "side": options.is_flip,
        "run": options.straights,
        "challenge": options.bluff != "off",
        "buzz": options.buzzers == "race",
        "buzzes": options.buzzers == "lottery",
        "passes": options.can_get_stuck(players),
        "fines": options.keeps_fines,
    }
    new = {name: given[name] for name in meaningful if given.get(name) is not None}  # null is as left out
    for name in new:
        if not meaningful[name]:
            raise BadInputError(f"{name} means nothing with these options")
    if "run" in new:
        run = object_of(new["run"], "run", {"seat", "card"}, {"seat", "card"})
        table.run = Run(whole(run["seat"], "seat", 0, players - 1), cards_of([run["card"]], "card", options)[0])
    if "challenge" in new:
        right = object_of(new["challenge"], "challenge", {"seat", "bluff"}, {"seat", "bluff"})
        table.challenge = Challenge(
            whole(right["seat"], "seat", 0, players - 1), true_or_false(right["bluff"], "bluff")
        )
    if "buzz" in new:
        race = object_of(new["buzz"], "buzz", {"by", "pressed"}, {"by", "pressed"})
        table.buzz = Buzz(whole(race["by"], "by", 0, players - 1), seats_of(race["pressed"], "pressed", players))
    table.buzzes = whole(new.get("buzzes", 0), "buzzes", 0)
    table.passes = whole(new.get("passes", 0), "passes", 0)
    if "fines" in new:
        table.fines = [whole(fine, "fines", 0) for fine in list_of(new["fines"], "fines")]
        if len(table.fines) != players:
            raise BadInputError("fines are not one a seat")


def table_to_json(table: Table) -> dict[str, object]:
    return {
        "hands": [sorted(hand) for hand in table.hands],
        "out": sorted(table.out),
        "turn": table.turn,
        "direction": table.direction,
        "draw_pile": list(table.draw_pile),
        "discard_pile": list(table.discard_pile),
        "color": table.color,
        "pending": None if table.pending is None else debt_to_json(table.pending, table.top()),
        "phase": table.phase,
        "drawn": table.drawn,
        "set_aside": sorted(table.set_aside),
        "declared": sorted(table.declared),
        "exposed": sorted(table.exposed),
        "going_out": list(table.going_out),
        "reshuffles": table.reshuffles,
        "winner": table.winner,
        "points": list(table.points) if isinstance(table.points, list) else table.points,
    } | new_fields_to_json(table)


def debt_to_json(debt: Debt, top: str) -> dict[str, object]:
    owed: dict[str, object] = {"total": debt.total, "value": debt.value}
    if debt.by != symbol(top):  # left out while it is the symbol of the top card
        owed["by"] = debt.by
    return owed


def new_fields_to_json(table: Table) -> dict[str, object]:
    """Return those of these fields that say something."""
    fields: dict[str, object] = {}
    if table.side is not None:
        fields["side"] = table.side
    if table.run is not None:
        fields["run"] = {"seat": table.run.seat, "card": table.run.card}
    if table.challenge is not None:
        fields["challenge"] = {"seat": table.challenge.seat, "bluff": table.challenge.bluff}
    if table.buzz is not None:
        fields["buzz"] = {"by": table.buzz.by, "pressed": list(table.buzz.pressed)}
    if table.buzzes:
        fields["buzzes"] = table.buzzes
    if table.passes:
        fields["passes"] = table.passes
    if any(table.fines):
        fields["fines"] = list(table.fines)
    return fields
