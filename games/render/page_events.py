"""What has happened since the reader's page was made: what is said, shown over the pile, and moved.

The fragment of a page has these events for static/js/events.js. A row of `TELLINGS` says how a kind is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_, Message
from games import rules
from games.models.paces import HOUR
from games.queries import GameView, LogLine
from games.render.log_rows import lines_since_your_move, sentence_case, sentences, told_to
from games.render.mercy import drawing_puts_out
from games.render.table import sorted_hand
from games.render.words import (
    card_name,
    color_in_sentence,
    deadline_of,
    duration,
    listed,
    round_cancelled,
    spoken_headline,
    spoken_task,
)

TURNED_CARDS: Final = 8
"""The most cards of a roulette that are shown, and tick, one by one: the last ones."""
NAMED_CARDS: Final = 3
"""The most cards that fit and are named when the reader's turn begins."""


class Telling(NamedTuple):
    """How a kind of event is told.

    `said` says who hears it: nobody, the players it is about (`seat` and `target` of the event), or all. `kept` says in
    the same way who hears it however much has happened. `at_once`: it interrupts what is being said. `seat`, `target`
    and `others` are the banners of the two players and of everybody else, empty for none, with a form for one and one
    for many where `{n}` decides. `sound` is the name of a sound of static/js/sounds.js, empty for none. If `kept` is
    `involved`, only the players it is about hear the sound.
    """

    kept: str = ""
    said: str = "all"
    at_once: bool = False
    seat: Message = ""
    target: Message = ""
    others: Message = ""
    sound: str = ""


_LIGHT: Final = N_("Flip: the light side")
_DARK: Final = N_("Flip: the dark side")
_HANDS_MOVE: Final = N_("Hands move on.")

TELLINGS: Final[dict[str, Telling]] = {
    "played": Telling(sound="card"),
    "shed": Telling(sound="card"),
    "drew": Telling(sound="draw"),
    # That somebody was slowest says how many.
    "drew/buzzer": Telling(said="involved", sound="draw"),
    "called_uno": Telling(others=N_("{seat} has UNO"), sound="uno"),
    "uno_due": Telling(
        "all",
        at_once=True,
        seat=N_("You forgot UNO: call it! (U)"),
        others=N_("{seat} forgot UNO: catch! (U)"),
        sound="uno",
    ),
    "window_closed": Telling(said="involved"),
    "caught": Telling(
        "all",
        seat=N_("{target} caught! +{n}"),
        target=N_("Caught! +{n}"),
        others=N_("{target} caught! +{n}"),
        sound="stamp",
    ),
    "false_catch": Telling("involved", seat=N_("No UNO call was due: +{n}")),
    # That it is their turn says what they owe, and what they do about it is said.
    "owes": Telling("involved", said="", seat=N_("+{n} on you"), sound="hit"),
    "owes_color": Telling("involved", said="", seat=N_("Draw until {color} shows")),
    "aimed": Telling("involved", said="", target=N_("The roulette is on you")),
    # A player who has drawn it hears what they can do with it.
    "found": Telling(said=""),
    "knocked_out": Telling("all", seat=N_("No mercy: you’re out"), others=N_("No mercy: {seat} is out"), sound="out"),
    # To the player who gets another hand, only whose hand they hold now is said.
    "swapped": Telling("involved", target=N_("{seat} took your hand.")),
    "passed_hands": Telling("all", seat=_HANDS_MOVE, others=_HANDS_MOVE),
    "turned_over": Telling(sound="tick"),
    "flipped/light": Telling("all", seat=_LIGHT, others=_LIGHT),
    "flipped/dark": Telling("all", seat=_DARK, others=_DARK),
    # The card says it, and what the others do then is said.
    "skipped": Telling(said="involved", seat=N_("You lose a turn")),
    "skipped_everyone": Telling(said=""),
    "intercepted": Telling("involved", target=N_("{seat} intercepted you")),
    "challenged/right": Telling("involved", seat=N_("{target} was bluffing!"), target=N_("Caught bluffing!")),
    "challenged/wrong": Telling("involved", seat=N_("It was no bluff"), target=N_("{seat} was wrong: no bluff")),
    "missed": Telling(
        "involved", seat=(N_("It did not fit: {n} penalty point"), N_("It did not fit: {n} penalty points"))
    ),
    "slowest": Telling("involved", seat=N_("You were slowest: +{n}"), others=N_("{seat} was slowest: +{n}")),
    "slowest/lottery": Telling(
        "involved", seat=N_("The lot falls on you: +{n}"), others=N_("The lot falls on {seat}: +{n}")
    ),
    "won": Telling("all", seat=N_("You win the round"), others=N_("{seat} wins the round"), sound="won"),
}
"""How each kind of event is told.

A key is the name of a row of `rules.narration` or the beginning of one, such as `flipped/dark` or `drew`. What has no
row here is said, unless much else happened, and has no banner and no sound.
"""

PLAIN: Final = Telling()


class Holds(NamedTuple):
    """Says whose hand the reader holds now. Only what is said has a number, because a banner is there for longer."""

    banner: str = ""
    sentence: str = ""


class Motion(NamedTuple):
    """What an event moves on the table, for static/js/motion.js.

    `kind` is `play` (cards from a seat to the pile), `stack` (its number grows), `draw` (from the draw pile to a seat),
    `turn` (turned over one by one), `swap` (two hands), `pass` (all hands), `flip`, or `topple` (the hand of a player
    who is out). `faces` are cards that are not shown elsewhere on the page.
    """

    kind: str
    seat: int
    target: int | None = None
    many: int = 1
    faces: Sequence[str] = ()


class PageEvent(NamedTuple):
    """One thing that has happened.

    `key` is the same in each response that tells it, so that a page tells it once. `move` is the number of its move in
    the log, or 0. `text` is what is said, or "". `seconds` is how long a banner asks for an answer, 0 if it does not.
    `sound` is the name of its sound, or "".
    """

    key: str
    move: int
    text: str
    kept: bool = True
    at_once: bool = False
    banner: str = ""
    seconds: int = 0
    motion: Motion | None = None
    sound: str = ""


@dataclass(frozen=True, slots=True)
class PageEvents:
    """The events since a version, in order, with what is said after them.

    `now` says that it is the reader's turn or how the round ended. It is empty if there is nothing new to say. `lead`
    says who leads, after a sentence like “8 more moves.” `tip` is said after all of it, once on a page, because another
    tip can take its place for a while.
    """

    events: Sequence[PageEvent] = ()
    now: str = ""
    lead: str = ""
    tip: str = ""


def page_events(
    view: GameView,
    lines: Iterable[LogLine],
    *,
    since: int,
    now: datetime,
    ended: int | None = None,
    deal: int | None = None,
) -> PageEvents:
    """Return what has happened after version `since`, oldest first, and whether it is the reader's turn now.

    `ended` is the round whose end the page showed, if any. `deal` is the number of the deal that it showed. Of a round
    that staff voided since, no moves are told.
    """
    cancelled = [] if deal is None else [number for number in view.cancelled if number >= deal]
    events = [
        _news(
            f"void-{number}",
            round_cancelled(number),
            banner=say.text("banner", "Staff cancelled round {number}", number=number),
        )
        for number in cancelled
    ]
    new = [line for line in lines if line.n > since and line.round not in cancelled]
    told_of = [_events_of(view, line, new[n:], now=now) for n, line in enumerate(new, 1)]
    shown = deal if ended is None and not cancelled else ended
    if shown and view.round > shown:
        dealt = say.text("announcement", "Round {number} is dealt.", number=view.round)
        told_of.insert(sum(line.round < view.round for line in new), [_news(f"deal-{view.round}", dealt)])
    events += chain.from_iterable(told_of)
    told = ""
    if events and (view.my_turn or view.turn is None):
        in_round = [line for line in new if line.round == view.round]
        told = _turn(view, now, in_round) if view.my_turn else spoken_headline(view)
    return PageEvents(events, told, _lead(view))


def recap(view: GameView, lines: Sequence[LogLine], *, now: datetime) -> PageEvents:
    """Return what others did since the reader's last move, for a page that was just opened. Nothing of it is said."""
    newer = lines_since_your_move(view, lines) if view.you is not None else ()
    if not newer:
        return PageEvents()
    return replace(page_events(view, newer, since=newer[0].n - 1, now=now), now="")


def _news(key: str, text: str, banner: str = "") -> PageEvent:
    return PageEvent(key, 0, text, banner=banner)


def said_of(view: GameView, line: LogLine) -> list[str]:
    """Return what the reader is told of each event of a line of the log in short sentences, "" for nothing."""
    _, reader = told_to(view, line)
    line = _with_cost(line)
    said = zip(line.events, sentences(view, line, short=True), strict=True)
    # Between two players the direction says nothing.
    unsaid = "turned_round" if sum(not seat.out for seat in view.seats) == 2 else ""
    return [
        text if event.kind != unsaid and _telling(event).said in _concerned(event, reader) else ""
        for event, text in said
    ]


def _concerned(event: rules.Event, reader: int | None) -> tuple[str, ...]:
    """Return the values of `Telling.kept` and `Telling.said` that mean this reader."""
    return ("all", "involved") if reader is not None and reader in (event.seat, event.target) else ("all",)


def _events_of(view: GameView, line: LogLine, newer: Sequence[LogLine], *, now: datetime) -> list[PageEvent]:
    """Return the events of a line of the log. `newer` are the lines after it."""
    names, reader = told_to(view, line)
    line = _with_cost(line)
    newest, found = not newer, []
    for number, (event, said) in enumerate(zip(line.events, said_of(view, line), strict=True)):
        telling, concerned = _telling(event), _concerned(event, reader)
        holds = Holds()
        if reader is not None and line.round == view.round:
            later = chain(line.events[number + 1 :], *(after.events for after in newer))
            holds = _holds(view, event, reader, names, later)
        seconds = view.terms.callout - int((now - line.at).total_seconds()) if event.kind == "uno_due" else 0
        found.append(
            PageEvent(
                key=f"{line.n}.{number}",
                move=line.n,
                text=holds.sentence or said,
                # What is said of the reader's turn does not name its card again.
                kept=telling.kept in concerned or (newest and view.my_turn and _names_card(view, event)),
                at_once=telling.at_once and newest,
                banner=" ".join(filter(None, (_banner(telling, event, reader, names), holds.banner))),
                seconds=max(0, seconds) if newest else 0,
                motion=_motion(view, event, newest=newest),
                sound=telling.sound if telling.kept in ("", *concerned) else "",
            )
        )
    return found


def _with_cost(line: LogLine) -> LogLine:
    """Return a line whose event that somebody was slowest has the number of cards that they drew (BUZZ-4, TURN-6)."""
    if not any(event.kind == "slowest" for event in line.events):
        return line
    drew = sum(event.amount or 0 for event in line.events if event.kind == "drew" and event.reason == "buzzer")
    events = [replace(one, amount=drew) if one.kind == "slowest" and one.amount is None else one for one in line.events]
    return replace(line, events=tuple(events))


def _telling(event: rules.Event) -> Telling:
    name = rules.row_of(event)
    while name and name not in TELLINGS:
        name = name.rpartition("/")[0]
    return TELLINGS.get(name, PLAIN)


def _names_card(view: GameView, event: rules.Event) -> bool:
    """Return True if the sentence of this event names the one card that the reader drew, or else what fits now."""
    assert view.view is not None
    if view.view.phase == "drawn":
        return event.kind == "drew" and event.cards == (view.view.drawn,)
    if event.kind == "named_color":
        return event.color == view.view.color
    return event.kind in ("played", "flipped") and event.card == view.view.top


def _banner(telling: Telling, event: rules.Event, reader: int | None, names: Sequence[str]) -> str:
    message = telling.others
    if reader is not None and reader == event.seat:
        message = telling.seat
    elif reader is not None and reader == event.target:
        message = telling.target
    if not message:
        return ""
    facts = {
        "seat": names[event.seat],
        "target": "" if event.target is None else names[event.target],
        "color": color_in_sentence(event.color) if event.color else "",
    }
    return sentence_case(say.form("banner", message, event.amount or 0, **facts))


def _holds(
    view: GameView, event: rules.Event, reader: int, names: Sequence[str], later: Iterable[rules.Event]
) -> Holds:
    """Return whose hand the reader holds since this event, and how many cards that is now.

    Empty if it moved no hand to the reader, or if the reader has yet another one or none by now. `later` are the
    events after it.
    """
    held = view.seats[reader]
    if held.out or event.kind not in ("swapped", "passed_hands"):
        return Holds()
    following = list(later)
    giver = _giver(view, event, reader, following)
    if giver is None or any(_giver(view, other, reader, ()) is not None for other in following):
        return Holds()
    return Holds(
        say.text("banner", "You hold {name}’s hand now.", name=names[giver]),
        say.plural(
            "banner",
            "You now hold {name}’s {n} card.",
            "You now hold {name}’s {n} cards.",
            held.cards,
            name=names[giver],
        ),
    )


def _giver(view: GameView, event: rules.Event, reader: int, following: Sequence[rules.Event]) -> int | None:
    """Return the seat whose hand an event gave to the reader, or None."""
    if event.kind == "swapped" and reader in (event.seat, event.target):
        return event.target if reader == event.seat else event.seat
    if event.kind != "passed_hands":
        return None
    assert event.amount is not None
    gone = {later.seat for later in following if later.kind in ("knocked_out", "left")}
    out = tuple(seat.seat for seat in view.seats if seat.out and seat.seat not in gone)
    return rules.nearest_seat(reader, -event.amount, len(view.seats), out)


def _motion(view: GameView, event: rules.Event, *, newest: bool) -> Motion | None:
    match event.kind:
        case "played" | "shed":
            played = (event.card,) if event.card else event.cards or ()
            # The page shows the last card that was played on the pile.
            return Motion("play", event.seat, faces=() if newest and len(played) == 1 else played)
        case "owes":
            return Motion("stack", event.seat)
        case "drew":
            return Motion("draw", event.seat, many=event.amount or len(event.cards or ()))
        case "turned_over":
            turned = event.cards or ()
            return Motion("turn", event.seat, many=len(turned), faces=turned[-TURNED_CARDS:])
        case "swapped":
            return Motion("swap", event.seat, event.target)
        case "passed_hands":
            return Motion("pass", event.seat, many=event.amount or 1)
        case "flipped":
            return Motion("flip", event.seat)
        case "knocked_out":
            return Motion("topple", event.seat)
    return None


def _turn(view: GameView, now: datetime, new: Sequence[LogLine]) -> str:
    """Return what a player hears when their turn begins: what they can do, and how many of their cards fit.

    `new` are the lines of the log that they hear before it.
    """
    seen = view.view
    assert seen is not None
    if seen.phase == "buzz":
        return spoken_headline(view)
    again = bool(new) and all(line.is_of(view.you) for line in new)
    parts = [say.text("announcement", "Your turn again.") if again else say.text("announcement", "Your turn.")]
    if again and seen.phase == "drawn":
        parts = []  # The turn goes on after the draw.
    named = bool(new) and any(_names_card(view, event) for event in new[-1].events)
    if seen.phase == "drawn" and named:
        parts.append(say.text("announcement", N_("Play it.") if view.options.drawn_must_play else N_("Play or keep?")))
    elif seen.phase in ("choose_color", "drawn"):
        parts.append(spoken_task(view))
    else:
        parts += [] if named or seen.pending else [_top(seen)]
        parts += [spoken_task(view)] if seen.pending else []
        parts += [_fits(view, seen)] if view.playable_cards or not seen.pending else []
        parts += [say.text("announcement", "Drawing puts you out.")] if drawing_puts_out(view, seen) else []
    deadline = deadline_of(view)
    seconds = math.ceil((deadline - now).total_seconds()) if deadline is not None else HOUR
    if 0 < seconds < HOUR:
        parts.append(say.text("announcement", "{time} left.", time=duration(seconds)))
    return " ".join(parts)


def _top(seen: rules.View) -> str:
    """Return what cards have to match: the card on top, or the colour of a wild."""
    if seen.color and not rules.face_of(seen.top).color:
        return say.text("announcement", "The colour is {color}.", color=color_in_sentence(seen.color))
    return say.text("announcement", "{card} is on top.", card=card_name(seen.top))


def _fits(view: GameView, seen: rules.View) -> str:
    """Return how many cards of the reader fit, and which if they are few."""
    hand, plays = seen.hand or (), view.plays
    fitting = [card_name(card) for card in sorted_hand(hand, "color") if card in plays]
    if not fitting:
        return say.text("announcement", "Nothing fits.")
    names = list(dict.fromkeys(fitting))
    if len(names) > NAMED_CARDS:
        message = N_("{n} of {total} fits."), N_("{n} of {total} fit.")
    else:
        message = N_("{n} of {total} fits: {cards}."), N_("{n} of {total} fit: {cards}.")
    return say.form("announcement", message, len(fitting), total=len(hand), cards=listed(names))


_MANY_LEAD: Final = N_("{players} players lead with {n} card."), N_("{players} players lead with {n} cards.")
_LEADS: Final = {
    (True, 0): (N_("You lead with {n} card."), N_("You lead with {n} cards.")),
    (False, 1): (N_("{a} leads with {n} card."), N_("{a} leads with {n} cards.")),
    (True, 1): (N_("You and {a} lead with {n} card."), N_("You and {a} lead with {n} cards.")),
    (False, 2): (N_("{a} and {b} lead with {n} card."), N_("{a} and {b} lead with {n} cards.")),
}
"""Who has the fewest cards: by whether the reader is one of them, and how many others."""


def _lead(view: GameView) -> str:
    """Return who has the fewest cards: `Finn leads with 2 cards.` Empty after a round."""
    inside = [seat for seat in view.seats if not seat.out and seat.cards]
    if view.turn is None or not inside:
        return ""
    fewest = min(seat.cards for seat in inside)
    first = [seat for seat in inside if seat.cards == fewest]
    names = [seat.name for seat in first if seat.seat != view.you]
    forms = _LEADS.get((len(first) > len(names), len(names)), _MANY_LEAD)
    return say.form("announcement", forms, fewest, players=len(first), **dict(zip("ab", names, strict=False)))
