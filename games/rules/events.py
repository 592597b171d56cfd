"""What a move did, as data. A row for each kind of event says which fields each player may know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from games.rules.cards import Card


# Not frozen, because every move makes events, and frozen ones take twice as long to make.
@dataclass(slots=True, unsafe_hash=True)
class Event:
    """One thing that a move did. ``EVENTS`` has the fields of each kind, and ``narration.py`` what each kind means.

    Treat it as immutable.
    """

    kind: str
    seat: int
    card: Card | None = None
    color: str | None = None
    reason: str | None = None
    amount: int | None = None
    cards: tuple[Card, ...] | None = None
    target: int | None = None
    points: int | tuple[int, ...] | None = None

    def to_json(self) -> dict[str, object]:
        """Return the event as a JSON object without its empty fields.

        >>> Event("skipped", 2).to_json()
        {'kind': 'skipped', 'seat': 2}
        """
        values = {name: getattr(self, name) for name in self.__slots__}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }

    @classmethod
    def from_json(cls, obj: Mapping[str, object]) -> Event:
        """Return the event of a JSON object that ``to_json`` made. The fields are not checked."""
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in obj.items()}
        return cls(**cast("dict[str, str]", values))  # type: ignore[arg-type]  # fields that `to_json` wrote


class EventSpec(NamedTuple):
    """The fields of a kind besides ``kind`` and ``seat``: ``public`` for everybody, ``private`` for the seat only.

    ``reasons`` are the values of its ``reason``. A kind that may leave it out needs no reason. An event may also be
    without its ``optional`` fields.
    """

    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


EVENTS: Final[dict[str, EventSpec]] = {
    "played": EventSpec(("card", "color", "reason"), reasons=("clock",), optional=("color",)),
    "shed": EventSpec(("cards", "color")),
    "called_uno": EventSpec(),
    "uno_due": EventSpec(),
    "caught": EventSpec(("target", "amount")),
    "false_catch": EventSpec(("target", "amount")),
    "window_closed": EventSpec(),
    "drew": EventSpec(
        ("amount", "reason"),
        ("cards",),
        reasons=("turn", "clock", "stack", "debt", "caught", "false_catch", "buzzer"),
    ),
    "found": EventSpec((), ("card",)),
    "turned_over": EventSpec(("cards", "color", "amount")),
    "reshuffled": EventSpec(("amount",)),
    "nothing_left": EventSpec(),
    "passed": EventSpec(),
    "kept": EventSpec(),
    "intercepted": EventSpec(("target",)),
    "missed": EventSpec(("card", "amount")),
    "challenged": EventSpec(("target", "reason"), reasons=("right", "wrong")),
    "flipped": EventSpec(("card", "reason"), reasons=("light", "dark")),
    "pressed": EventSpec(),
    "slowest": EventSpec(("reason",), reasons=("lottery",)),
    "shuffled_in": EventSpec(("amount",)),
    "skipped": EventSpec(),
    "skipped_everyone": EventSpec(),
    "turned_round": EventSpec(("amount",)),
    "swapped": EventSpec(("target",)),
    "passed_hands": EventSpec(("amount",)),
    "owes": EventSpec(("amount",)),
    "owes_color": EventSpec(("color",)),
    "stack_gone": EventSpec(("amount",)),
    "aimed": EventSpec(("target",)),
    "named_color": EventSpec(("color", "reason"), reasons=("clock",)),
    "went_out": EventSpec(),
    "came_back": EventSpec(),
    "knocked_out": EventSpec(),
    "left": EventSpec(),
    "won": EventSpec(("points", "reason"), reasons=("last_card", "last_one_in", "debt_ended", "nobody_can_move")),
}
"""Every kind of event. ``seat`` is the player it is about: the one who played, drew, was skipped or was knocked out."""


def _only(event: Event, fields: Iterable[str]) -> Event:
    return Event(event.kind, event.seat, **{name: getattr(event, name) for name in fields})


def redact(events: Iterable[Event], viewer: int | None, over: bool) -> tuple[Event, ...]:
    """Return the events with only the fields that a viewer may know (SEE-1).

    ``viewer`` is a seat, or None for a spectator. With ``over`` the round is over and every field is shown.

    >>> redact([Event("drew", 1, amount=1, cards=("r5",), reason="turn")], 0, over=False)[0].cards is None
    True
    """
    if over:
        return tuple(events)
    shown = []
    for event in events:
        spec = EVENTS[event.kind]
        shown.append(_only(event, spec.public + spec.private if event.seat == viewer else spec.public))
    return tuple(shown)
