"""The JSON objects of requests and responses. Requests with unknown fields or wrong types are refused."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Final, Literal, get_args

from ninja import Field, Schema
from pydantic import ConfigDict, StringConstraints

from games import rules
from games.actions.lobby import TableOptions
from games.actions.play import LONGEST_MOVE, MOST_STEPS
from games.bots import BOTS
from games.models import Game
from games.models.paces import CUSTOM, PACES
from games.refusals import STATUSES

USUAL: Final = TableOptions()
Name = Annotated[str, StringConstraints(max_length=32)]  # limited because error messages repeat it
MOST_CARDS: Final = 500
"""More cards than any deck has different ones."""
Token = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[\x20-\x7e]+$")]

LEFT_OUT: Final[Any] = Field(default_factory=lambda: None)
"""The default of a field that is left out of an answer while it says nothing. `null` is never sent for it."""


Intercept = Literal["never", "card", "face"]


class Strict(Schema):
    """A request body that accepts only its own fields and types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewClock(Strict):
    """The pace `custom`, in seconds."""

    bank: int
    increment: int
    cap: int
    callout: int


def _option_schema(spec: rules.OptionSpec) -> dict[str, Any]:
    """Return the JSON schema of an option's values."""
    kind = {bool: "boolean", int: "integer", str: "string"}[spec.type]
    if spec.values:
        return {"type": kind, "enum": list(spec.values)}
    ranges = [{"minimum": low, "maximum": high} for low, high in spec.ranges]
    return {"type": kind, **(ranges[0] if len(ranges) == 1 else {"anyOf": ranges} if ranges else {})}


OPTIONS_SCHEMA: Final[dict[str, Any]] = {
    "description": ", ".join(spec.name for spec in rules.OPTIONS if spec.name != "target"),
    "properties": {spec.name: _option_schema(spec) for spec in rules.OPTIONS if spec.name != "target"},
    "additionalProperties": False,
}
"""What the OpenAPI document says of options. The rules check them, so that a refusal is the same everywhere."""


def _one_of(names: Iterable[str]) -> dict[str, Any]:
    return {"enum": list(names)}


BotName = Annotated[Name, Field(json_schema_extra=_one_of(BOTS))]


class NewGame(Strict):
    preset: Annotated[Name, Field(json_schema_extra=_one_of(rules.PRESETS))] = USUAL.preset
    options: dict[Name, Any] = Field(default_factory=dict, json_schema_extra=OPTIONS_SCHEMA)
    players: int = USUAL.players
    bots: int = USUAL.bots
    bot: BotName = USUAL.bot
    pace: Annotated[Name, Field(json_schema_extra=_one_of((*PACES, CUSTOM)))] = USUAL.pace
    clock: NewClock | None = None
    misses_allowed: int = USUAL.misses_allowed
    after_misses: Annotated[Name, Field(json_schema_extra=_one_of(Game.AfterMisses.values))] = USUAL.after_misses
    target: int = USUAL.target
    bot_pause: float = USUAL.bot_pause
    public: bool = USUAL.public
    programs: bool = Field(default=USUAL.programs, description="whether accounts that programs play for may sit down")


class NewBot(Strict):
    bot: BotName = USUAL.bot


class Nothing(Strict):
    """The body of a call that takes none: `{}`, `null`, or nothing at all."""


MoveText = Annotated[str, StringConstraints(max_length=LONGEST_MOVE)]


class NewMove(Strict):
    move: MoveText
    then: list[MoveText] = Field(
        default_factory=list,
        max_length=MOST_STEPS,
        description="further plays that continue a straight after this play, all or none",
    )
    version: int | None = None
    deal: int | None = Field(
        None, description="the `deal` of the view that a turn move was chosen on: another is stale"
    )
    token: Token | None = None


class NewOrders(Strict):
    """Standing orders. `keep` lists cards, and a missing field has its default."""

    intercept: Intercept = "never"
    keep: list[Name] = Field(default_factory=list, max_length=MOST_CARDS)
    call_uno: bool = True


class OrdersOut(Schema):
    """Standing orders of the viewer."""

    intercept: str = Field(json_schema_extra=_one_of(get_args(Intercept)))
    keep: list[str]
    call_uno: bool


class PendingOut(Schema):
    """Owed cards. `by` is left out while it is the symbol of the top card."""

    total: int
    value: int
    by: str = LEFT_OUT


class RunOut(Schema):
    """An open straight: the seat that may go on with it, and its last card."""

    seat: int
    card: str


class BuzzOut(Schema):
    """An open buzzer race: the seat that played the buzzer, and the seats that have pressed, in order."""

    by: int
    pressed: list[int]


class SeatOut(Schema):
    seat: int
    name: str
    program: bool = Field(description="a program plays for this person")
    bot: bool
    bot_for_owner: bool = Field(description="a bot plays for the owner of the seat, who can take it back")
    cards: int
    uno: bool
    exposed: bool
    out: bool
    score: int


class CalloutOut(Schema):
    """A hand that may be caught without a called UNO, and until when."""

    seat: int
    until: datetime


class GameListed(Schema):
    """A table as a list shows it: no hand, no legal moves, no standing orders."""

    id: str
    version: int
    status: str = Field(json_schema_extra=_one_of(Game.Status.values))
    preset: str = Field(json_schema_extra=_one_of(rules.PRESETS))
    programs: bool = Field(description="whether accounts that programs play for may sit down")
    options: dict[str, Any] = Field(json_schema_extra=OPTIONS_SCHEMA)
    target: int
    round: int
    deal: int = Field(description="the number of the deal: a round that staff void is dealt again as the next one")
    you: int | None
    turn: int | None
    phase: str | None
    direction: int | None
    top: str | None
    color: str | None
    pending: PendingOut | None
    drawn: str | None
    draw_pile: int | None
    discard_pile: int | None
    seats: list[SeatOut]
    callouts: list[CalloutOut]
    deadline: datetime | None
    paused: list[str] = Field(description="why the game stands still, as in the clock; empty while it does not")
    hands: list[list[str]] | None
    winner: int | None
    points: int | list[int] | None
    commitment: str | None
    # The fields of variants are left out while they say nothing, as in positions of the notation.
    side: str = LEFT_OUT
    run: RunOut = LEFT_OUT
    challenge: int = LEFT_OUT
    buzz: BuzzOut = LEFT_OUT
    passes: int = LEFT_OUT
    fines: list[int] = LEFT_OUT
    backs: list[list[str]] = LEFT_OUT


class GameOut(GameListed):
    """A table as its viewer may see it."""

    hand: list[str] | None
    legal: list[str]
    orders: OrdersOut = LEFT_OUT


class SeatClock(Schema):
    seat: int
    bank: int
    misses: int
    bot_for_owner: bool
    away_until: datetime | None


class ClockOut(Schema):
    """A table's clock: its settings, time left, and pauses. Times are seconds."""

    pace: str
    bank: int
    increment: int
    cap: int
    callout: int
    deadline: datetime | None
    paused: list[str]
    time_left: float | None
    pause_votes: list[int]
    misses_allowed: int
    after_misses: str
    seats: list[SeatClock]


class GameList(Schema):
    items: list[GameListed]
    count: int
    next: str = LEFT_OUT


class EventsItem(Schema):
    """A table that I have not left, open or being played."""

    id: str
    version: int
    status: str = Field(json_schema_extra=_one_of((Game.Status.OPEN, Game.Status.PLAYING)))
    seats: int = Field(description="how many are taken")
    waiting: bool = Field(description="I must move, or can catch somebody who has not called UNO")


class EventsOut(Schema):
    items: list[EventsItem]
    mark: str = Field(description="for `after` of the next call")


EVENT_FIELDS: Final[dict[str, dict[str, Any]]] = {
    "card": {"type": "string"},
    "color": {"type": "string"},
    "reason": {"type": "string"},
    "amount": {"type": "integer"},
    "cards": {"type": "array", "items": {"type": "string"}},
    "target": {"type": "integer"},
    "points": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
}
"""The JSON schema of each field of an event besides `kind` and `seat`."""


def _event_schema(kind: str, spec: rules.EventSpec) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": {"const": kind}, "seat": {"type": "integer"}}
    fields |= {name: EVENT_FIELDS[name] for name in (*spec.public, *spec.private)}
    if spec.reasons:
        fields["reason"] = {"type": "string", "enum": list(spec.reasons)}
    return {"title": kind, "description": rules.example(kind), "type": "object", "properties": fields}


EVENTS_SCHEMA: Final[dict[str, Any]] = {
    "items": {"anyOf": [_event_schema(kind, spec) for kind, spec in rules.EVENTS.items()]}
}
"""What the OpenAPI document says of events. The answers are not checked against it, because logs are long."""


class MoveOut(Schema):
    n: int
    round: int
    seat: int
    move: str
    at: datetime
    events: list[dict[str, Any]] = Field(json_schema_extra=EVENTS_SCHEMA)
    player: str = LEFT_OUT


class MoveList(Schema):
    moves: list[MoveOut]
    version: int


class Me(Schema):
    id: int
    username: str
    name: str
    guest: bool
    waiting: int


class ErrorOut(Schema):
    error: str = Field(json_schema_extra=_one_of(dict.fromkeys((*STATUSES, *rules.REFUSALS))))
    message: str = Field(description="a sentence for people, which may change")
    rule: str | None = Field(description="the number of the rule that refuses a move")
    version: int | None
    view: GameOut = LEFT_OUT
