"""Events as sentences: "You draw 4 cards.", "Bob draws 4 cards.", "Bob swaps hands with you."

In a template ``{seat}`` and ``{target}`` are the players, and ``[draw|draws]`` is a verb for you and for anyone else.
A name keeps its case, also at the start of a sentence. Names are never read as templates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from games.rules.cards import card_name, color_name, face_of
from games.rules.events import EVENTS, Event

_SENTENCES: Final[dict[str, str]] = {
    "played": "{seat} [play|plays] {card}{color}{clock}.",
    "shed": "{seat} [shed|sheds] {cards}.",
    "called_uno": "{seat} [call|calls] UNO.",
    "uno_due": "{seat} [have|has] one card left and did not call UNO.",
    "caught": "{seat} [catch|catches] {target} not calling UNO.",
    "false_catch": "{seat} [try|tries] to catch {target}, but no UNO call is due.",
    "window_closed": "{seat} can no longer be caught.",
    "drew": "{seat} [draw|draws] {count}{cards}{clock}.",
    "found": "{seat} [have|has] drawn a playable card{card}.",
    "turned_over": "{seat} [turn|turns] over {count}: {cards}.",
    "reshuffled": "The discard pile is shuffled into a new draw pile of {count}.",
    "nothing_left": "{seat} [have|has] no cards left to draw.",
    "passed": "{seat} [draw|draws] no playable card, and the turn passes.",
    "intercepted": "{seat} [intercept|intercepts] {target}.",
    "missed": "{seat} [play|plays] {card} out of turn and [get|gets] {points_of_miss}, because it does not fit.",
    "challenged": "{seat} [challenge|challenges] {target}: {verdict}.",
    "flipped": "The cards are turned over to the {side} side. {card} is on top{any_card}.",
    "pressed": "{seat} [press|presses] the buzzer.",
    "slowest": "{seat} [are|is] the slowest to press.",
    "shuffled_in": "The hand of {count} is shuffled into the draw pile.",
    "kept": "{seat} [keep|keeps] the card and [pass|passes].",
    "skipped": "{seat} [lose|loses] a turn.",
    "skipped_everyone": "Everyone else is skipped: {seat} [get|gets] another turn.",
    "turned_round": "Play now runs {way}.",
    "swapped": "{seat} [swap|swaps] hands with {target}.",
    "passed_hands": "All hands are passed {way}.",
    "owes": "{seat} [owe|owes] {count}.",
    "owes_color": "{seat} [have|has] to draw until {color_name} shows.",
    "stack_gone": "The {size} is cancelled.",
    "aimed": "{seat} [play|plays] Color Roulette on {target}.",
    "named_color": "{seat} [choose|chooses] {color_name}{clock}.",
    "went_out": "{seat} [have|has] played the last card: waiting on the stack.",
    "came_back": "{seat} [have|has] to draw and [are|is] back in the round.",
    "knocked_out": "{seat} [reach|reaches] the mercy limit and [are|is] out of the round.",
    "left": "{seat} [have|has] left the game.",
    "won": "{seat} [win|wins] the round{why}{points}.",
}

_DREW_SENTENCES: Final = {
    "stack": "{seat} [draw|draws] {count}{cards} and [lose|loses] the turn.",
    "caught": "{seat} [draw|draws] {count}{cards} for not calling UNO.",
    "false_catch": "{seat} [draw|draws] {count}{cards} for a false catch.",
    "buzzer": "{seat} [draw|draws] {count}{cards} for the buzzer.",
}
"""Templates for ``drew`` by its reason. Other reasons have the template of the kind."""

_LOTTERY: Final = "Chance picks {seat}."
"""The template for ``slowest`` in a lottery, where nobody presses."""

_SHORT_SENTENCES: Final = _SENTENCES | {
    "played": "{seat} [play|plays] {card}{in_color}{clock}.",
    "reshuffled": "The discard pile is reshuffled.",
    "passed": "{seat} [pass|passes].",
    "kept": "{seat} [keep|keeps] it.",
    "skipped_everyone": "Everyone else is skipped.",
    "turned_round": "Now {way}.",
    "owes": "{seat} [owe|owes] {number}.",
    "aimed": "Aimed at {target}.",
    "knocked_out": "No mercy: {seat} [are|is] out.",
}
"""Templates for what is spoken right after the events before it."""

_SHORT_DREW_SENTENCES: Final = _DREW_SENTENCES | {"stack": "{seat} [draw|draws] {number}{cards}."}

_WHY_WON: Final = {
    "last_one_in": " as the last player standing",
    "debt_ended": " because the stack is cancelled",
    "nobody_can_move": " because nobody can move",
}
"""Why a player has won, by the reason of ``won``. After a last card nothing needs to be said."""

_TOKEN: Final = re.compile(r"\{(\w+)\}|\[([^|]*)\|([^]]*)\]")


def sentence(event: Event, viewer: int | None, names: Sequence[str], *, short: bool = False) -> str:
    """Return an event as a sentence for a viewer.

    ``viewer`` is a seat, or None for a spectator. ``names`` has one name a seat. The event should be redacted for the
    viewer: the sentence tells every field it has. ``short``: it is spoken right after the events before it.

    >>> names = ("Ann", "Bob")
    >>> draw = Event("drew", 1, amount=4, reason="stack")
    >>> sentence(draw, 0, names), sentence(draw, 1, names)
    ('Bob draws 4 cards and loses the turn.', 'You draw 4 cards and lose the turn.')
    >>> sentence(Event("swapped", 1, target=0), 0, names)
    'Bob swaps hands with you.'
    >>> sentence(draw, 0, names, short=True)
    'Bob draws 4.'
    """
    drew, kinds = (_SHORT_DREW_SENTENCES, _SHORT_SENTENCES) if short else (_DREW_SENTENCES, _SENTENCES)
    pattern = drew.get(event.reason or "") if event.kind == "drew" else _LOTTERY if event.reason == "lottery" else None
    pattern = pattern or kinds[event.kind]
    words = _words(event, viewer, names)

    def fill(token: re.Match[str]) -> str:
        if token[1]:
            return words[token[1]]
        return token[2] if event.seat == viewer else token[3]

    text = _TOKEN.sub(fill, pattern)
    begins_with_you = pattern.startswith("{seat}") and viewer is not None and event.seat == viewer
    return f"Y{text[1:]}" if begins_with_you else text


def example(kind: str) -> str:
    """Return what a log says of an event of this kind, for documents.

    >>> example("swapped")
    'Ann swaps hands with Bob.'
    """
    spec = EVENTS[kind]
    reason = next((name for name in spec.reasons if name != "clock"), None)
    color = None if kind == "played" else "g"
    values = Event(kind, 0, "r5", color, reason, 2, ("r1", "b3"), 1, 40)
    fields = [name for name in spec.public + spec.private if name != "reason" or reason]
    shown = Event(kind, 0, **{name: getattr(values, name) for name in fields})
    return sentence(shown, None, ("Ann", "Bob"))


def _words(event: Event, viewer: int | None, names: Sequence[str]) -> dict[str, str]:
    def person(seat: int | None) -> str:
        if seat is None:
            return ""
        return "you" if seat == viewer else names[seat]

    return {
        "seat": person(event.seat),
        "target": person(event.target),
        "count": _count(event),
        "number": str(_number(event)),
        "size": f"{event.amount}-card stack" if event.amount else "Wild Draw Colour",
        "card": _card(event),
        "cards": _cards(event),
        "color": f" and {_verb(event, viewer, 'choose', 'chooses')} {color_name(event.color).lower()}"
        if event.color
        else "",
        "in_color": f", {color_name(event.color).lower()}" if event.color else "",
        "color_name": color_name(event.color).lower() if event.color else "",
        "clock": " (time ran out)" if event.reason == "clock" else "",
        "points_of_miss": f"{event.amount} penalty point{'' if event.amount == 1 else 's'}",
        "verdict": "it was a bluff" if event.reason == "right" else "it was no bluff",
        "side": event.reason or "",
        # A wild that a Flip brings up has no colour (FLIP-2, TURN-8).
        "any_card": ", and any card fits" if event.card and not face_of(event.card).color else "",
        "way": "clockwise" if event.amount == 1 else "counter-clockwise",
        "why": _WHY_WON.get(event.reason or "", ""),
        "points": _points(event, viewer),
    }


def _verb(event: Event, viewer: int | None, yours: str, theirs: str) -> str:
    return yours if event.seat == viewer else theirs


def _points(event: Event, viewer: int | None) -> str:
    if type(event.points) is not int:
        return ""
    return f" and {_verb(event, viewer, 'score', 'scores')} {event.points:,} point{'' if event.points == 1 else 's'}"


def _number(event: Event) -> int:
    return len(event.cards or ()) if event.amount is None else event.amount


def _count(event: Event) -> str:
    count = _number(event)
    return f"{count} card{'' if count == 1 else 's'}"


def _card(event: Event) -> str:
    name = card_name(event.card) if event.card else ""
    return f": {name}" if name and event.kind == "found" else name


def _cards(event: Event) -> str:
    names = ", ".join(card_name(card) for card in event.cards or ())
    if not names or event.kind != "drew":
        return names
    return f": {names}" if event.reason == "clock" else f" ({names})"
