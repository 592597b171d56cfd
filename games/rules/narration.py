"""Events as sentences in three voices: "You draw 4 cards.", "Bob draws 4 cards.", "Bob swaps hands with you."

A name keeps its case wherever it stands: a sentence that begins with alice_n begins small.
Write ``[draw|draws]`` for a verb (you | anybody else), ``{seat}`` and ``{target}`` for people. Names are put in last
and never read as a template.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from games.rules.cards import card_name, color_name
from games.rules.events import Event

_SENTENCES: Final[dict[str, str]] = {
    "played": "{seat} [play|plays] {card}{color}{clock}.",
    "shed": "{seat} [shed|sheds] {cards}.",
    "called_uno": "{seat} [call|calls] UNO.",
    "uno_due": "{seat} [have|has] one card left and did not call UNO.",
    "caught": "{seat} [catch|catches] {target} without UNO.",
    "false_catch": "{seat} [try|tries] to catch {target}, but nobody owes a call.",
    "window_closed": "{seat} can no longer be caught.",
    "drew": "{seat} [draw|draws] {count}{cards}{clock}.",
    "found": "{seat} [have|has] drawn a card that can be played{card}.",
    "turned_over": "{seat} [turn|turns] over {count}: {cards}.",
    "reshuffled": "The discards are shuffled into a new draw pile of {count}.",
    "nothing_left": "{seat} [find|finds] no card left to draw.",
    "passed": "{seat} [have|has] no card that can be played, and the turn passes.",
    "kept": "{seat} [keep|keeps] the card, and the turn passes.",
    "skipped": "{seat} [lose|loses] a turn.",
    "skipped_everyone": "Everyone else is skipped: {seat} [take|takes] another turn.",
    "turned_round": "Play now runs {way}.",
    "swapped": "{seat} [swap|swaps] hands with {target}.",
    "passed_hands": "All hands pass on {way}.",
    "owes": "{seat} [owe|owes] {count}.",
    "stack_gone": "The stack of {count} is gone.",
    "aimed": "{seat} [aim|aims] the roulette at {target}.",
    "named_color": "{seat} [name|names] {hue}{clock}.",
    "went_out": "{seat} [have|has] played the last card; the stack decides.",
    "came_back": "{seat} [have|has] to draw and [are|is] back in play.",
    "knocked_out": "{seat} [reach|reaches] the mercy limit and [are|is] out of the round.",
    "left": "{seat} [have|has] left the game.",
    "won": "{seat} [win|wins] the round{because}{points}.",
}

_CAUSES: Final = {
    "stack": "{seat} [draw|draws] {count}{cards} and [lose|loses] the turn.",
    "caught": "{seat} [draw|draws] {count}{cards} for not calling UNO.",
    "false_catch": "{seat} [draw|draws] {count}{cards} for a false catch.",
}
"""Sentences of ``drew`` by its reason."""

_TOKEN: Final = re.compile(r"\{(\w+)\}|\[([^|]*)\|([^]]*)\]")


def sentence(event: Event, viewer: int | None, names: Sequence[str]) -> str:
    """Return what an event says to a viewer (None: a spectator); ``names`` has one name a seat.

    >>> names = ("Ann", "Bob")
    >>> draw = Event("drew", 1, amount=4, reason="stack")
    >>> sentence(draw, 0, names), sentence(draw, 1, names)
    ('Bob draws 4 cards and loses the turn.', 'You draw 4 cards and lose the turn.')
    >>> sentence(Event("swapped", 1, target=0), 0, names)
    'Bob swaps hands with you.'
    """
    pattern = _CAUSES.get(event.reason or "") if event.kind == "drew" else None
    pattern = pattern or _SENTENCES[event.kind]
    words = _words(event, viewer, names)

    def fill(token: re.Match[str]) -> str:
        if token[1]:
            return words[token[1]]
        return token[2] if event.seat == viewer else token[3]

    text = _TOKEN.sub(fill, pattern)
    begins_with_you = pattern.startswith("{seat}") and viewer is not None and event.seat == viewer
    return f"Y{text[1:]}" if begins_with_you else text


def _words(event: Event, viewer: int | None, names: Sequence[str]) -> dict[str, str]:
    def person(seat: int | None) -> str:
        if seat is None:
            return ""
        return "you" if seat == viewer else names[seat]

    return {
        "seat": person(event.seat),
        "target": person(event.target),
        "count": _count(event),
        "card": _card(event),
        "cards": _cards(event),
        "color": f" and {_verb(event, viewer, 'name', 'names')} {color_name(event.color).lower()}"
        if event.color
        else "",
        "hue": color_name(event.color).lower() if event.color else "",
        "clock": " (time ran out)" if event.reason == "clock" else "",
        "way": "clockwise" if event.amount == 1 else "counter-clockwise",
        "because": " as the last one left" if event.reason == "last_one_in" else "",
        "points": _points(event, viewer),
    }


def _verb(event: Event, viewer: int | None, yours: str, theirs: str) -> str:
    return yours if event.seat == viewer else theirs


def _points(event: Event, viewer: int | None) -> str:
    if type(event.points) is not int:
        return ""
    return f" and {_verb(event, viewer, 'score', 'scores')} {event.points:,} point{'' if event.points == 1 else 's'}"


def _count(event: Event) -> str:
    count = len(event.cards or ()) if event.amount is None else event.amount
    return f"{count} card{'' if count == 1 else 's'}"


def _card(event: Event) -> str:
    name = card_name(event.card) if event.card else ""
    return f": {name}" if name and event.kind == "found" else name


def _cards(event: Event) -> str:
    names = ", ".join(card_name(card) for card in event.cards or ())
    if not names or event.kind != "drew":
        return names
    return f": {names}" if event.reason == "clock" else f" ({names})"
