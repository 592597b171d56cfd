"""What a move did, as data: rich enough to narrate, and with a row per kind that says who may know what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, cast

from games.rules.cards import Card


class Event(NamedTuple):
    """One thing that happened. ``EVENTS`` says what each kind means and which fields it has."""

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
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in self._asdict().items()
            if value is not None
        }

    @classmethod
    def from_json(cls, obj: Mapping[str, object]) -> Event:
        """Return the event whose ``to_json`` this is."""
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in obj.items()}
        return cls(**cast("dict[str, str]", values))  # type: ignore[arg-type]  # the fields of an event that we wrote


class EventSpec(NamedTuple):
    """A row: the fields everybody may know besides kind and seat, and those only the seat itself may."""

    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()


EVENTS: Final[dict[str, EventSpec]] = {
    "played": EventSpec(("card", "color", "reason")),
    "shed": EventSpec(("cards", "color")),
    "called_uno": EventSpec(),
    "uno_due": EventSpec(),
    "caught": EventSpec(("target", "amount")),
    "false_catch": EventSpec(("target", "amount")),
    "window_closed": EventSpec(),
    "drew": EventSpec(("amount", "reason"), ("cards",)),
    "found": EventSpec((), ("card",)),
    "turned_over": EventSpec(("cards", "color", "amount")),
    "reshuffled": EventSpec(("amount",)),
    "nothing_left": EventSpec(),
    "passed": EventSpec(),
    "kept": EventSpec(),
    "skipped": EventSpec(),
    "skipped_everyone": EventSpec(),
    "turned_round": EventSpec(("amount",)),
    "swapped": EventSpec(("target",)),
    "passed_hands": EventSpec(("amount",)),
    "owes": EventSpec(("amount",)),
    "stack_gone": EventSpec(("amount",)),
    "aimed": EventSpec(("target",)),
    "named_color": EventSpec(("color", "reason")),
    "went_out": EventSpec(),
    "came_back": EventSpec(),
    "knocked_out": EventSpec(),
    "left": EventSpec(),
    "won": EventSpec(("points", "reason")),
}
"""Every kind of event. ``seat`` is whom the sentence is about: who played, drew, was skipped, owes, was knocked out."""


def _only(event: Event, fields: Iterable[str]) -> Event:
    return Event(event.kind, event.seat, **{name: getattr(event, name) for name in fields})


def redact(events: Iterable[Event], viewer: int | None, over: bool) -> tuple[Event, ...]:
    """Return the events as a viewer may know them (SEE-1); ``over``: the round is over, so everything is known.

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
