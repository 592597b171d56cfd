"""The JSON objects of requests and responses. Requests with unknown fields or wrong types are refused."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Final, Literal, get_args

from ninja import Field, Schema
from pydantic import ConfigDict, StringConstraints

from games import rules
from games.actions.lobby import MAX_PAUSE, MOST_MISSES, TableChoices
from games.actions.play import LONGEST_MOVE, MOST_STEPS
from games.bots import BOTS
from games.models import Game
from games.models.orders import MOST_FIRST
from games.models.paces import CUSTOM, LIMITS, PACES
from games.refusals import STATUSES

USUAL: Final = TableChoices()
Name = Annotated[str, StringConstraints(max_length=32)]  # limited because error messages repeat it
MOST_CARDS: Final = 500
"""More cards than any deck has different ones."""
Token = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[\x20-\x7e]+$")]

LEFT_OUT: Final[Any] = Field(default_factory=lambda: None)
"""The default of a field that is left out of an answer while it says nothing. `null` is never sent for it."""


Intercept = Literal["never", "card", "face"]
Stack = Literal["ask", "take", "lowest", "highest"]
Stop = Literal["one_card", "hand_changed"]
Ended = Literal["", "round_over", "hand_changed", "one_card", "cards_gone"]


class Strict(Schema):
    """A request body that accepts only its own fields and types."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _one_of(values: Iterable[str | int]) -> dict[str, Any]:
    return {"enum": list(values)}


def _from_to(lowest: float, highest: float) -> dict[str, Any]:
    """Return a range for the OpenAPI document. An action checks it, so that a refusal is the same everywhere."""
    return {"minimum": lowest, "maximum": highest}


PHASES: Final = ("play", "drawn", "choose_color", "buzz", "over")
SIDES: Final = ("light", "dark")
Phase = Annotated[str, Field(json_schema_extra=_one_of(PHASES))]
Direction = Annotated[int, Field(json_schema_extra=_one_of((1, -1)))]
PauseReason = Annotated[
    str, Field(json_schema_extra=_one_of((Game.PAUSED_BY_CONSENT, Game.PAUSED_BY_STAFF, Game.PAUSED_BY_RESTORE)))
]
PAUSED: Final = (
    "why the clock stands still: all players agreed, staff paused it, or the site was restored; [] while it runs"
)
PaceName = Annotated[str, Field(json_schema_extra=_one_of((*PACES, CUSTOM)))]
AfterMisses = Annotated[str, Field(json_schema_extra=_one_of(Game.AfterMisses.values))]


class NewClock(Strict):
    """The pace `custom`, in seconds. The cap is at least as long as each of the others."""

    bank: int = Field(json_schema_extra=_from_to(*LIMITS["bank"]))
    increment: int = Field(json_schema_extra=_from_to(*LIMITS["increment"]))
    cap: int = Field(json_schema_extra=_from_to(*LIMITS["cap"]))
    callout: int = Field(json_schema_extra=_from_to(*LIMITS["callout"]))


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


VACATIONS: Final = "whether vacations stop the clocks; at live tables they never do"


BotName = Annotated[Name, Field(json_schema_extra=_one_of(BOTS))]


class NewGame(Strict):
    preset: Annotated[Name, Field(json_schema_extra=_one_of(rules.PRESETS))] = USUAL.preset
    options: dict[Name, Any] = Field(default_factory=dict, json_schema_extra=OPTIONS_SCHEMA)
    players: int = Field(
        default=USUAL.players,
        description="the number of seats; at most 6 with `no-mercy`",
        json_schema_extra=_from_to(rules.MIN_PLAYERS, rules.MAX_PLAYERS),
    )
    bots: int = Field(
        default=USUAL.bots,
        description="how many of the other seats bots take",
        json_schema_extra=_from_to(0, rules.MAX_PLAYERS - 1),
    )
    bot: BotName = USUAL.bot
    pace: Annotated[Name, Field(json_schema_extra=_one_of((*PACES, CUSTOM)))] = USUAL.pace
    clock: NewClock | None = Field(default=None, description="with the pace `custom`, and only with it")
    misses_allowed: int = Field(
        default=USUAL.misses_allowed,
        description="how many turns in a row the clock may play for a seat (CLOCK-3)",
        json_schema_extra=_from_to(1, MOST_MISSES),
    )
    after_misses: Annotated[Name, Field(json_schema_extra=_one_of(Game.AfterMisses.values))] = Field(
        default=USUAL.after_misses, description="what happens then: a bot takes the seat, or its player leaves"
    )
    target: int = Field(
        default=USUAL.target,
        description="the score that ends the match; 0: a single round",
        json_schema_extra=_from_to(*rules.SPECS["target"].ranges[0]),
    )
    bot_pause: float = Field(
        default=USUAL.bot_pause,
        description="seconds that a bot waits before each move",
        json_schema_extra=_from_to(0, MAX_PAUSE),
    )
    public: bool = Field(default=USUAL.public, description="whether everybody sees it and may sit down without a link")
    programs: bool = Field(default=USUAL.programs, description="whether accounts that programs play for may sit down")
    vacations: bool = Field(default=USUAL.vacations, description=VACATIONS)


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
    version: int | None = Field(
        default=None, description="the `version` of the view that a turn move was chosen on; turn moves need it"
    )
    deal: int | None = Field(
        default=None, description="the `deal` of the view that a turn move was chosen on: another is stale"
    )
    token: Token | None = Field(
        default=None,
        description="any text; if you send it again with the same move, you get an answer, but no second move is made",
    )


class NewFirstPlay(Strict):
    """A card to play first, and the colour or the seat that it is played with, if it asks for one."""

    card: Name
    color: Name | None = None
    target: int | None = None


class NewOrders(Strict):
    """Standing orders. `keep` and `first` list cards, and a missing field has its default. `ended` is ignored."""

    intercept: Intercept = "never"
    keep: list[Name] = Field(default_factory=list, max_length=MOST_CARDS)
    call_uno: bool = True
    forced: bool = False
    stack: Stack = "ask"
    first: list[NewFirstPlay] = Field(default_factory=list, max_length=MOST_FIRST)
    then_draw: bool = False
    stop: list[Stop] = Field(default_factory=lambda: list(get_args(Stop)), max_length=len(get_args(Stop)))
    # So that what `GET` returns can be put back.
    ended: str = Field(default="", exclude=True)


class FirstPlayOut(Schema):
    """A card to play first."""

    card: str
    color: str = LEFT_OUT
    target: int = LEFT_OUT


class OrdersOut(Schema):
    """Standing orders of the viewer. `ended` says why those for the own turn have ended by themselves."""

    intercept: str = Field(json_schema_extra=_one_of(get_args(Intercept)))
    keep: list[str]
    call_uno: bool
    forced: bool
    stack: str = Field(json_schema_extra=_one_of(get_args(Stack)))
    first: list[FirstPlayOut]
    then_draw: bool
    stop: list[str]
    ended: str = Field(json_schema_extra=_one_of(get_args(Ended)))


def _left_out(description: str, **about: Any) -> Any:
    """Return a field as `LEFT_OUT`, with what the OpenAPI document says of it."""
    return Field(default_factory=lambda: None, description=description, json_schema_extra=about)


class PendingOut(Schema):
    """Owed cards. `by` is left out while it is the symbol of the top card."""

    total: int = Field(description="how many cards are owed")
    value: int = Field(description="the value that a card must match to be stacked")
    by: str = _left_out("the symbol of the last draw card")


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
    bot: bool = Field(description="one of the site’s bots plays")
    bot_for_owner: bool = Field(description="a bot plays for the owner of the seat, who can take it back")
    cards: int = Field(description="how many cards the hand has")
    uno: bool = Field(description="has called UNO for the last card")
    exposed: bool = Field(description="has not called UNO, and can be caught")
    out: bool = Field(description="knocked out or has left")
    score: int = Field(description="points in the match so far")


class CalloutOut(Schema):
    """A hand that may be caught without a called UNO, and until when."""

    seat: int
    until: datetime


class GameListed(Schema):
    """A table as a list shows it: no hand, no legal moves, no standing orders."""

    id: str = Field(description="the table’s code")
    version: int = Field(description="the number of lines in the log")
    status: str = Field(json_schema_extra=_one_of(Game.Status.values))
    preset: str = Field(json_schema_extra=_one_of(rules.PRESETS))
    programs: bool = Field(description="whether accounts that programs play for may sit down")
    vacations: bool = Field(description=VACATIONS)
    options: dict[str, Any] = Field(json_schema_extra=OPTIONS_SCHEMA)
    target: int = Field(description="the score that ends the match; 0: a single round")
    round: int = Field(description="0 before the first")
    deal: int = Field(description="the number of the deal: a round that staff void is dealt again as the next one")
    you: int | None = Field(description="your seat; null for a spectator")
    turn: int | None = Field(description="the seat on turn")
    phase: Phase | None
    direction: Direction | None = Field(description="1 clockwise, -1 counterclockwise")
    top: str | None = Field(description="the top card of the discard pile")
    color: str | None = Field(description="the colour in force, r y g b, or o p u t on the dark side")
    pending: PendingOut | None
    drawn: str | None = Field(description="the card just drawn, only for its owner")
    draw_pile: int | None = Field(description="how many cards it has")
    discard_pile: int | None = Field(description="how many cards it has")
    seats: list[SeatOut]
    callouts: list[CalloutOut] = Field(description="the seats that can be caught, your own too")
    deadline: datetime | None = Field(description="when the clock moves for the seat on turn")
    paused: list[PauseReason] = Field(description=PAUSED)
    hands: list[list[str]] | None = Field(description="the cards of every seat, once the round is over")
    winner: int | None = Field(description="the seat that won the match, or the round if `target` is 0")
    points: int | list[int] | None = Field(
        description="the points of the winner of the last round; with the scoring `penalty` a list, one number a seat"
    )
    commitment: str | None = Field(description="the SHA-256 of the round’s 32 secret bytes, which the record shows")
    # The fields of variants are left out while they say nothing, as in positions of the notation.
    side: str = _left_out("with `flip112`: the side in force", **_one_of(SIDES))
    run: RunOut = LEFT_OUT
    challenge: int = _left_out("the seat whose wild draw card may be challenged (BLUFF-1)")
    buzz: BuzzOut = LEFT_OUT
    passes: int = _left_out("how many turns in a row have ended without any card (STUCK-1)")
    fines: list[int] = _left_out("penalty points for misses, one number a seat")
    backs: list[list[str]] = _left_out("with `flip_backs` seen: the hidden faces of each hand, [] for your own")


class GameOut(GameListed):
    """A table as its viewer may see it."""

    hand: list[str] | None = Field(description="your cards; null for a spectator")
    legal: list[str] = Field(
        description="your moves, without `leave`, misses and the ending `uno`; false catches too, where they cost cards"
    )
    orders: OrdersOut = LEFT_OUT


class SeatClock(Schema):
    seat: int
    bank: int = Field(description="the seconds that the seat has saved")
    misses: int = Field(description="how many turns in a row the clock has played")
    bot_for_owner: bool = Field(description="a bot plays for the owner of the seat, who can take it back")
    away_until: datetime | None = Field(description="the end of the player’s vacation")


class ClockOut(Schema):
    """A table's clock: its settings, time left, and pauses. Times are seconds."""

    pace: PaceName
    bank: int = Field(description="what each seat starts with")
    increment: int = Field(description="what a seat gains at the start of each of its turns")
    cap: int = Field(description="the longest turn")
    callout: int = Field(description="how long a seat can be caught, if the next turn does not end that")
    deadline: datetime | None = Field(description="when the clock moves for the seat on turn")
    paused: list[PauseReason] = Field(description=PAUSED)
    time_left: float | None = Field(description="what the turn has left, while the game is paused")
    pause_votes: list[int] = Field(description="the seats that ask for a pause")
    misses_allowed: int
    after_misses: AfterMisses
    seats: list[SeatClock]


class GameList(Schema):
    items: list[GameListed]
    count: int = Field(description="the length of the whole list")
    next: str = _left_out("the `after` for the next call, if the list of public tables continues")


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
    "color": {"type": "string", "description": "one letter, as in the notation"},
    "reason": {"type": "string"},
    "amount": {"type": "integer"},
    "cards": {"type": "array", "items": {"type": "string"}},
    "target": {"type": "integer"},
    "points": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
}
"""The JSON schema of each field of an event besides `kind` and `seat`."""


EVENT_NOTES: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("played", "color"): {"description": "only of a wild: the colour that its player names"},
    ("turned_round", "amount"): {"enum": [1, -1], "description": "1 clockwise, -1 counterclockwise"},
    ("passed_hands", "amount"): {"enum": [1, -1], "description": "1 clockwise, -1 counterclockwise"},
    ("won", "points"): {"description": "of the winner; with the scoring `penalty` a list, one number a seat"},
}
"""What the OpenAPI document says about a field of one kind of event, besides `EVENT_FIELDS`."""


def _event_schema(kind: str, spec: rules.EventSpec) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": {"const": kind}, "seat": {"type": "integer"}}
    fields |= {name: EVENT_FIELDS[name] | EVENT_NOTES.get((kind, name), {}) for name in (*spec.public, *spec.private)}
    if spec.reasons:
        fields["reason"] = {"type": "string", "enum": list(spec.reasons)}
    for name in spec.private:
        fields[name] = fields[name] | {"description": "for the seat only, until the round is over"}
    always = [name for name in fields if name not in ("reason", *spec.private, *spec.optional)]
    return {
        "title": kind,
        "description": rules.example(kind),
        "type": "object",
        "properties": fields,
        "required": always,
    }


EVENTS_SCHEMA: Final[dict[str, Any]] = {
    "items": {"anyOf": [_event_schema(kind, spec) for kind, spec in rules.EVENTS.items()]}
}
"""What the OpenAPI document says of events. The answers are not checked against it, because logs are long."""


class MoveOut(Schema):
    n: int = Field(description="the version after the move")
    round: int
    seat: int
    move: str
    at: datetime
    events: list[dict[str, Any]] = Field(description="what the move did, in order", json_schema_extra=EVENTS_SCHEMA)
    player: str = _left_out("the name of the player then, if staff have given the seat to somebody else since")


class MoveList(Schema):
    moves: list[MoveOut]
    version: int = Field(description="the version of the table; if the last `n` is less, there are more moves")


class Me(Schema):
    id: int
    username: str
    name: str
    guest: bool
    program: bool = Field(description="a program plays for this account")
    waiting: int = Field(description="in how many games you must move or can catch somebody")


class ErrorOut(Schema):
    error: str = Field(json_schema_extra=_one_of(dict.fromkeys((*STATUSES, *rules.REFUSALS))))
    message: str = Field(description="a sentence for people, which may change")
    rule: str | None = Field(description="the number of the rule that refuses a move")
    version: int | None = Field(description="the version of the table, if the error is about one")
    view: GameOut = LEFT_OUT
