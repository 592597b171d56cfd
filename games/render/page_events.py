"""What has happened since the reader's page was made: what is said, shown over the pile, and moved.

The fragment of a page has these events for static/js/events.js. A row of `TELLINGS` says how a kind is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from games import rules
from games.models.paces import HOUR
from games.queries import GameView, LogLine
from games.render.log_rows import lines_since_your_move, sentence_case, sentences, told_to
from games.render.words import cards, color, color_in_sentence, counted, headline, listed, round_cancelled, time_left

LISTED_CARDS: Final = 3
"""The most cards that a spoken sentence names one by one. More are counted by colour."""

TURNED_CARDS: Final = 20
"""The most cards of a roulette that are shown one by one: the last ones."""


class Telling(NamedTuple):
    """How a kind of event is told.

    `said` says who hears it: nobody, the players it is about (`seat` and `target` of the event), or all. `kept` says in
    the same way who hears it however much has happened. `at_once`: it interrupts what is being said. `seat`, `target`
    and `others` are the banners of the two players and of everybody else, empty for none. `sound` is the name of a
    sound of static/js/sounds.js, empty for none. If `kept` is `involved`, only the players it is about hear the sound.
    """

    kept: str = ""
    said: str = "all"
    at_once: bool = False
    seat: str = ""
    target: str = ""
    others: str = ""
    sound: str = ""


TELLINGS: Final[dict[str, Telling]] = {
    "played": Telling(sound="card"),
    "shed": Telling(sound="card"),
    "drew": Telling(sound="draw"),
    "called_uno": Telling(others="{seat} has UNO", sound="uno"),
    "uno_due": Telling(
        "all", at_once=True, seat="You forgot UNO: call it! (U)", others="{seat} forgot UNO: catch! (U)", sound="uno"
    ),
    "caught": Telling(
        "all",
        seat="{target} caught! +{amount}",
        target="Caught! +{amount}",
        others="{target} caught! +{amount}",
        sound="hit",
    ),
    "false_catch": Telling("involved", seat="No UNO call was due: +{amount}"),
    # What the next player does about a debt is said.
    "owes": Telling("involved", said="involved", seat="+{amount} on you", sound="hit"),
    "owes_color": Telling("involved", said="involved", seat="Draw until {color} shows"),
    # A player who has drawn it hears what they can do with it.
    "found": Telling(said=""),
    "aimed": Telling("involved", target="Color Roulette on you"),
    "knocked_out": Telling("all", seat="No mercy: you’re out", others="No mercy: {seat} is out", sound="out"),
    "swapped": Telling("involved", seat="You swapped with {target}{now}", target="{seat} swapped with you{now}"),
    "passed_hands": Telling("all", seat="All hands are passed on{now}", others="All hands are passed on{now}"),
    "flipped": Telling("all", seat="Flip: the {reason} side", others="Flip: the {reason} side"),
    "skipped": Telling(seat="You lose a turn"),
    "intercepted": Telling("involved", target="{seat} intercepted you"),
    "challenged": Telling("involved", seat="{verdict}", target="{seat} challenged you: {verdict}"),
    "missed": Telling("involved", seat="It did not fit: {points} for you"),
    "slowest": Telling("involved", seat="You were the slowest", others="{seat} was the slowest"),
    "picked": Telling("involved", seat="Chance picked you", others="Chance picked {seat}"),
    "won": Telling("all", seat="You win the round", others="{seat} wins the round", sound="won"),
}
"""How each kind of event is told.

`picked` stands for `slowest` where a lottery picks the player because nobody presses. Kinds without a row are said,
unless much else happened, and have no banner and no sound.
"""

PLAIN: Final = Telling()


class Motion(NamedTuple):
    """What an event moves on the table, for static/js/motion.js.

    `kind` is `play` (cards from a seat to the pile), `draw` (from the draw pile to a seat), `turn` (turned over one by
    one), `swap` (two hands), `pass` (all hands) or `flip`. `faces` are cards that are not shown elsewhere on the page.
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

    `now` says that it is the reader's turn or how the round ended, empty if there is nothing new to say of it. `lead`
    says who leads, after a sentence like “8 more moves.”
    """

    events: Sequence[PageEvent] = ()
    now: str = ""
    lead: str = ""


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
        _news(f"void.{number}", round_cancelled(number), banner=f"Staff cancelled round {number}")
        for number in cancelled
    ]
    dealt = ended is not None and view.round > ended
    if dealt:
        events.append(_news(f"deal.{view.round}", f"Round {view.round} is dealt."))
    new = [line for line in lines if line.n > since and line.round not in cancelled]
    for line in new:
        events += _events_of(view, line, newest=line is new[-1], now=now)
    own = [line.is_of(view.you) for line in new]
    again = bool(own) and all(own)
    owed = any(event.kind == "owes" and event.seat == view.you for line in new for event in line.events)
    told = ""
    if events and (view.my_turn or view.turn is None):
        told = _turn(view, now, again=again, owed=owed) if view.my_turn else headline(view)
    return PageEvents(events, told, _lead(view))


def recap(view: GameView, lines: Sequence[LogLine], *, now: datetime) -> PageEvents:
    """Return what others did since the reader's last move, for a page that was just opened. Nothing of it is said."""
    newer = lines_since_your_move(view, lines) if view.you is not None else ()
    if not newer:
        return PageEvents()
    return replace(page_events(view, newer, since=newer[0].n - 1, now=now), now="")


def _news(key: str, text: str, banner: str = "") -> PageEvent:
    return PageEvent(key, 0, text, banner=banner)


def _events_of(view: GameView, line: LogLine, *, newest: bool, now: datetime) -> list[PageEvent]:
    names, reader = told_to(view, line)
    found = []
    for number, (event, said) in enumerate(zip(line.events, sentences(view, line, short=True), strict=True)):
        telling = TELLINGS.get("picked" if event.reason == "lottery" else event.kind, PLAIN)
        concerned = ("all", "involved") if reader is not None and reader in (event.seat, event.target) else ("all",)
        seconds = view.terms.callout - int((now - line.at).total_seconds()) if event.kind == "uno_due" else 0
        found.append(
            PageEvent(
                key=f"{line.n}.{number}",
                move=line.n,
                text=_spoken(event, said, reader, names) if telling.said in concerned else "",
                kept=telling.kept in concerned,
                at_once=telling.at_once and newest,
                banner=_banner(view, telling, event, reader, names),
                seconds=max(0, seconds) if newest else 0,
                motion=_motion(view, event, newest=newest),
                sound=telling.sound if telling.kept in ("", *concerned) else "",
            )
        )
    return found


def _spoken(event: rules.Event, said: str, reader: int | None, names: Sequence[str]) -> str:
    """Return the sentence of an event as it is said: many cards are counted, by colour if they are the reader's."""
    held = event.cards or ()
    if len(held) <= LISTED_CARDS:
        return said
    if event.kind == "shed":
        return said.replace(", ".join(map(rules.card_name, held)), summed_up(held))
    counted_only = replace(event, cards=None, amount=len(held))
    text = sentence_case(rules.sentence(counted_only, reader, tuple(names), short=True)).rstrip(".: ")
    return f"{text}: {summed_up(held)}." if event.seat == reader else f"{text}."


def summed_up(faces: Sequence[str]) -> str:
    """Return how many cards of each colour there are: `4 yellow, 3 green, 2 wild`, the most first."""
    colors = Counter(rules.face_of(card).color for card in faces)
    return ", ".join(f"{many} {color(letter).lower() if letter else 'wild'}" for letter, many in colors.most_common())


def _banner(view: GameView, telling: Telling, event: rules.Event, reader: int | None, names: Sequence[str]) -> str:
    pattern = telling.others
    if reader is not None and reader == event.seat:
        pattern = telling.seat
    elif reader is not None and reader == event.target:
        pattern = telling.target
    if not pattern:
        return ""
    return sentence_case(
        pattern.format(
            seat=names[event.seat],
            target="" if event.target is None else names[event.target],
            amount=event.amount,
            points=counted(event.amount or 0, "point"),
            color=color(event.color).lower(),
            reason=event.reason,
            verdict="it was a bluff" if event.reason == "right" else "it was no bluff",
            now=f": {cards(view.seats[reader].cards)}" if reader is not None and not view.seats[reader].out else "",
        )
    )


def _motion(view: GameView, event: rules.Event, *, newest: bool) -> Motion | None:
    match event.kind:
        case "played" | "shed":
            played = (event.card,) if event.card else event.cards or ()
            # The page shows the last card that was played on the pile.
            return Motion("play", event.seat, faces=() if newest and len(played) == 1 else played)
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
    return None


def _turn(view: GameView, now: datetime, *, again: bool, owed: bool) -> str:
    """Return what a player hears when their turn begins: what lies on the pile and how many of their cards fit.

    `owed`: an event before it says what they owe.
    """
    seen = view.view
    assert seen is not None
    if seen.phase == "buzz":
        return headline(view)
    parts = ["Your turn again." if again else "Your turn."]
    held, fits = len(seen.hand or ()), view.playable_cards
    fit = f"{fits or 'none'} of {held}"
    if seen.phase == "choose_color":
        parts.append("Choose a colour for the roulette.")
    elif seen.phase == "drawn" and seen.drawn is not None:
        keep = "" if view.options.drawn_must_play else ", or keep it"
        parts.append(f"You can play the {rules.card_name(seen.drawn)} you drew{keep}.")
    elif seen.pending is not None:
        debt = (
            f"You owe {cards(seen.pending.total)}."
            if seen.pending.value
            else f"You draw until {color_in_sentence(seen.color or '')} shows."
        )
        parts += [] if owed else [debt]
        parts.append(f"{fit.capitalize()} can answer.")
        if seen.challenge is not None:
            parts.append(f"You can challenge {view.names[seen.challenge]}.")
    else:
        face = rules.face_of(seen.top)
        named = "" if face.color or not seen.color else f", {color(seen.color).lower()}"
        parts.append(f"{rules.card_name(seen.top)}{named}, {fit} {'fits' if fits == 1 else 'fit'}.")
    if view.deadline is not None and view.deadline - now < timedelta(seconds=HOUR):
        parts.append(f"{time_left(view.deadline, now)}.")
    return " ".join(parts)


def _lead(view: GameView) -> str:
    """Return who has the fewest cards: `Finn leads with 2 cards.` Empty after a round."""
    inside = [seat for seat in view.seats if not seat.out and seat.cards]
    if view.turn is None or not inside:
        return ""
    fewest = min(seat.cards for seat in inside)
    first = [seat for seat in inside if seat.cards == fewest]
    if len(first) > 2:
        return f"{counted(len(first), 'player')} lead with {cards(fewest)}."
    names = ["you" if seat.seat == view.you else seat.name for seat in first]
    verb = "leads" if len(first) == 1 and names != ["you"] else "lead"
    text = listed(names)
    return f"{'You' + text[3:] if names[0] == 'you' else text} {verb} with {cards(fewest)}."
