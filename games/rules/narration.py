"""Events as sentences: "You draw 4 cards.", "Bob draws 4 cards.", "Bob swaps hands with you."

``ROWS`` has whole sentences for each kind of event. Each is a row of constants that ``say`` says in a language.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from common.say import ENGLISH, N_, Message, Say
from games.rules.cards import Card, card_name, color_word, face_of
from games.rules.events import EVENTS, Event

LISTED_CARDS: Final = 3
"""The most cards that a spoken sentence names one by one. More are counted by colour."""


class Row(NamedTuple):
    """Sentences about an event, one for each reader.

    ``you`` is for the player ``{seat}``, ``to_you`` for the player ``{target}``, and ``others`` for everybody else. The
    first two say the same as ``others`` if they are left out. ``short`` is the row for what is spoken right after the
    events before it, None if that is no shorter. A message with a number ``{n}`` has a form for one and one for many.
    """

    others: Message
    you: Message = ""
    to_you: Message = ""
    short: Row | None = None


def _any(message: str) -> tuple[str, str]:
    """Return the forms of a message whose English is the same for one and for many."""
    return message, message


_DRAW: Final = Row(_any(N_("{seat} draws {n}.")), _any(N_("You draw {n}.")))
_DRAW_CARDS: Final = _DRAW._replace(you=(N_("You draw {cards}."), N_("You draw {n}: {cards}.")))

ROWS: Final[dict[str, Row]] = {
    "played": Row(
        N_("{seat} plays {card}."),
        N_("You play {card}."),
        short=Row(N_("{seat}: {card}."), N_("You: {card}.")),
    ),
    "played/color": Row(
        N_("{seat} plays {card} and chooses {color}."),
        N_("You play {card} and choose {color}."),
        short=Row(N_("{seat}: {card}, {color}."), N_("You: {card}, {color}.")),
    ),
    "shed": Row(
        N_("{seat} sheds {cards}."),
        N_("You shed {cards}."),
        short=Row(_any(N_("{seat} sheds {n}.")), _any(N_("You shed {n}."))),
    ),
    "called_uno": Row(N_("{seat} calls UNO."), N_("You call UNO.")),
    "uno_due": Row(
        N_("{seat} has one card left and did not call UNO."), N_("You have one card left and did not call UNO.")
    ),
    "caught": Row(
        N_("{seat} catches {target} not calling UNO."),
        N_("You catch {target} not calling UNO."),
        N_("{seat} catches you not calling UNO."),
    ),
    "false_catch": Row(
        N_("{seat} tries to catch {target}, but no UNO call is due."),
        N_("You try to catch {target}, but no UNO call is due."),
        N_("{seat} tries to catch you, but no UNO call is due."),
    ),
    "window_closed": Row(N_("{seat} can no longer be caught."), N_("You can no longer be caught.")),
    "drew": Row(
        (N_("{seat} draws {n} card."), N_("{seat} draws {n} cards.")),
        (N_("You draw {n} card."), N_("You draw {n} cards.")),
        short=_DRAW,
    ),
    "drew/cards": Row(
        (N_("{seat} draws {cards}."), N_("{seat} draws {n} cards: {cards}.")),
        (N_("You draw {cards}."), N_("You draw {n} cards: {cards}.")),
        short=_DRAW_CARDS,
    ),
    "drew/stack": Row(
        (N_("{seat} draws {n} card and loses the turn."), N_("{seat} draws {n} cards and loses the turn.")),
        (N_("You draw {n} card and lose the turn."), N_("You draw {n} cards and lose the turn.")),
        short=_DRAW,
    ),
    "drew/stack/cards": Row(
        (N_("{seat} draws {cards} and loses the turn."), N_("{seat} draws {n} cards and loses the turn: {cards}.")),
        (N_("You draw {cards} and lose the turn."), N_("You draw {n} cards and lose the turn: {cards}.")),
        short=_DRAW_CARDS,
    ),
    "drew/caught": Row(
        (N_("{seat} draws {n} card for not calling UNO."), N_("{seat} draws {n} cards for not calling UNO.")),
        (N_("You draw {n} card for not calling UNO."), N_("You draw {n} cards for not calling UNO.")),
        short=_DRAW,
    ),
    "drew/caught/cards": Row(
        (N_("{seat} draws {cards} for not calling UNO."), N_("{seat} draws {n} cards for not calling UNO: {cards}.")),
        (N_("You draw {cards} for not calling UNO."), N_("You draw {n} cards for not calling UNO: {cards}.")),
        short=_DRAW_CARDS,
    ),
    "drew/false_catch": Row(
        (N_("{seat} draws {n} card for a false catch."), N_("{seat} draws {n} cards for a false catch.")),
        (N_("You draw {n} card for a false catch."), N_("You draw {n} cards for a false catch.")),
        short=_DRAW,
    ),
    "drew/false_catch/cards": Row(
        (N_("{seat} draws {cards} for a false catch."), N_("{seat} draws {n} cards for a false catch: {cards}.")),
        (N_("You draw {cards} for a false catch."), N_("You draw {n} cards for a false catch: {cards}.")),
        short=_DRAW_CARDS,
    ),
    "drew/buzzer": Row(
        (N_("{seat} draws {n} card for the buzzer."), N_("{seat} draws {n} cards for the buzzer.")),
        (N_("You draw {n} card for the buzzer."), N_("You draw {n} cards for the buzzer.")),
        short=_DRAW,
    ),
    "drew/buzzer/cards": Row(
        (N_("{seat} draws {cards} for the buzzer."), N_("{seat} draws {n} cards for the buzzer: {cards}.")),
        (N_("You draw {cards} for the buzzer."), N_("You draw {n} cards for the buzzer: {cards}.")),
        short=_DRAW_CARDS,
    ),
    "found": Row(N_("{seat} has drawn a playable card."), N_("You have drawn a playable card.")),
    "found/card": Row(N_("{seat} has drawn a playable card: {card}."), N_("You have drawn a playable card: {card}.")),
    "turned_over": Row(
        (N_("{seat} turns over {n} card: {cards}."), N_("{seat} turns over {n} cards: {cards}.")),
        (N_("You turn over {n} card: {cards}."), N_("You turn over {n} cards: {cards}.")),
        short=Row(
            _any(N_("{seat} turns over {n}.")),
            (N_("You turn over {cards}."), N_("You turn over {n}: {cards}.")),
        ),
    ),
    "reshuffled": Row(
        (
            N_("The discard pile is shuffled into a new draw pile of {n} card."),
            N_("The discard pile is shuffled into a new draw pile of {n} cards."),
        ),
        short=Row(N_("The discard pile is reshuffled.")),
    ),
    "nothing_left": Row(N_("{seat} has no cards left to draw."), N_("You have no cards left to draw.")),
    "passed": Row(
        N_("{seat} draws no playable card, and the turn passes."),
        N_("You draw no playable card, and the turn passes."),
        short=Row(N_("{seat} passes."), N_("You pass.")),
    ),
    "kept": Row(
        N_("{seat} keeps the card and passes."),
        N_("You keep the card and pass."),
        short=Row(N_("{seat} keeps it."), N_("You keep it.")),
    ),
    "intercepted": Row(N_("{seat} intercepts {target}."), N_("You intercept {target}."), N_("{seat} intercepts you.")),
    "missed": Row(
        (
            N_("{seat} plays {card} out of turn. It does not fit, which costs {n} penalty point."),
            N_("{seat} plays {card} out of turn. It does not fit, which costs {n} penalty points."),
        ),
        (
            N_("You play {card} out of turn. It does not fit, which costs {n} penalty point."),
            N_("You play {card} out of turn. It does not fit, which costs {n} penalty points."),
        ),
    ),
    "challenged/right": Row(
        N_("{seat} challenges {target} and catches a bluff."),
        N_("You challenge {target} and catch a bluff."),
        N_("{seat} challenges you and catches your bluff."),
    ),
    "challenged/wrong": Row(
        N_("{seat} challenges {target}, but it was no bluff."),
        N_("You challenge {target}, but it was no bluff."),
        N_("{seat} challenges you, but it was no bluff."),
    ),
    "flipped/light": Row(
        N_("The cards are turned over to the light side. {card} is on top."),
        short=Row(N_("Flip to the light side: {card}.")),
    ),
    "flipped/light/wild": Row(
        N_("The cards are turned over to the light side. {card} is on top, and any card fits."),
        short=Row(N_("Flip to the light side: {card}.")),
    ),
    "flipped/dark": Row(
        N_("The cards are turned over to the dark side. {card} is on top."),
        short=Row(N_("Flip to the dark side: {card}.")),
    ),
    "flipped/dark/wild": Row(
        N_("The cards are turned over to the dark side. {card} is on top, and any card fits."),
        short=Row(N_("Flip to the dark side: {card}.")),
    ),
    "pressed": Row(N_("{seat} presses the buzzer."), N_("You press the buzzer.")),
    "slowest": Row(
        N_("{seat} is the slowest to press."),
        N_("You are the slowest to press."),
        short=Row(N_("{seat} was slowest: +{n}."), N_("You were slowest: +{n}.")),
    ),
    # In a lottery nobody presses.
    "slowest/lottery": Row(
        N_("The lot falls on {seat}."),
        N_("The lot falls on you."),
        short=Row(N_("The lot falls on {seat}: +{n}."), N_("The lot falls on you: +{n}.")),
    ),
    "shuffled_in": Row(
        (
            N_("The hand of {n} card is shuffled into the draw pile."),
            N_("The hand of {n} cards is shuffled into the draw pile."),
        )
    ),
    "skipped": Row(N_("{seat} loses a turn."), N_("You lose a turn.")),
    "skipped_everyone": Row(
        N_("Everyone else is skipped: {seat} gets another turn."),
        N_("Everyone else is skipped: you get another turn."),
    ),
    "turned_round/clockwise": Row(N_("The direction turns: now clockwise."), short=Row(N_("Now clockwise."))),
    "turned_round/counter-clockwise": Row(
        N_("The direction turns: now counter-clockwise."), short=Row(N_("Now counter-clockwise."))
    ),
    "swapped": Row(
        N_("{seat} swaps hands with {target}."),
        N_("You swap hands with {target}."),
        N_("{seat} swaps hands with you."),
        short=Row(N_("{seat} swaps with {target}."), N_("You swap with {target}."), N_("{seat} swaps with you.")),
    ),
    "passed_hands/clockwise": Row(N_("All hands move on clockwise."), short=Row(N_("Hands move on."))),
    "passed_hands/counter-clockwise": Row(N_("All hands move on counter-clockwise."), short=Row(N_("Hands move on."))),
    "owes": Row(
        (N_("{seat} owes {n} card."), N_("{seat} owes {n} cards.")),
        (N_("You owe {n} card."), N_("You owe {n} cards.")),
        short=Row(_any(N_("{seat} owes {n}.")), _any(N_("You owe {n}."))),
    ),
    "owes_color": Row(N_("{seat} has to draw until {color} shows."), N_("You have to draw until {color} shows.")),
    "stack_gone": Row(_any(N_("The {n}-card stack is cancelled."))),
    "stack_gone/color": Row(N_("The Wild Draw Colour is cancelled.")),
    "aimed": Row(N_("The roulette is on {target}."), to_you=N_("The roulette is on you.")),
    "named_color": Row(
        N_("{seat} chooses {color}."),
        N_("You choose {color}."),
        short=Row(N_("{seat}: {color}."), N_("You choose {color}.")),
    ),
    "went_out": Row(
        N_("{seat} plays the last card. Now the stack decides."), N_("You play your last card. Now the stack decides.")
    ),
    "came_back": Row(
        N_("{seat} has to draw and is back in the round."), N_("You have to draw and are back in the round.")
    ),
    "knocked_out": Row(
        N_("{seat} reaches the mercy limit and is out of the round."),
        N_("You reach the mercy limit and are out of the round."),
        short=Row(N_("No mercy: {seat} is out."), N_("No mercy: you are out.")),
    ),
    "left": Row(N_("{seat} has left the game."), N_("You have left the game.")),
    "won": Row(N_("{seat} wins the round."), N_("You win the round.")),
    "won/last_one_in": Row(
        N_("{seat} wins the round as the last player standing."), N_("You win the round as the last player standing.")
    ),
    "won/debt_ended": Row(
        N_("{seat} wins the round because the stack is cancelled."),
        N_("You win the round because the stack is cancelled."),
    ),
    "won/nobody_can_move": Row(
        N_("{seat} wins the round because nobody can move."), N_("You win the round because nobody can move.")
    ),
}
"""What is said of each kind of event. Where a kind has several rows, ``row_of`` chooses one of them.

In a row ``{card}`` and ``{cards}`` are names of cards, ``{color}`` a colour as in "red", and ``{n}`` the number that
the event is about.
"""

_POINTS: Final = N_("That’s {n} point."), N_("That’s {n} points.")
"""Said after ``won``, if the winner scores."""

_OF_A_COLOR: Final = {
    "r": _any(N_("{n} red")),
    "y": _any(N_("{n} yellow")),
    "g": _any(N_("{n} green")),
    "b": _any(N_("{n} blue")),
    "o": _any(N_("{n} orange")),
    "p": _any(N_("{n} pink")),
    "u": _any(N_("{n} purple")),
    "t": _any(N_("{n} teal")),
    "": _any(N_("{n} wild")),
}
"""How many cards have a colour, or are wild."""


def sentence(event: Event, viewer: int | None, names: Sequence[str], *, short: bool = False, say: Say = ENGLISH) -> str:
    """Return an event as a sentence for a viewer.

    ``viewer`` is a seat, or None for a spectator. ``names`` has one name a seat. The event should be redacted for the
    viewer: the sentence tells every field it has, except that the clock acted. ``short``: it is spoken right after the
    events before it. ``say`` says it in a language. A win with points is two sentences.

    >>> names = ("Ann", "Bob")
    >>> draw = Event("drew", 1, amount=4, reason="stack")
    >>> sentence(draw, 0, names), sentence(draw, 1, names)
    ('Bob draws 4 cards and loses the turn.', 'You draw 4 cards and lose the turn.')
    >>> sentence(Event("swapped", 1, target=0), 0, names)
    'Bob swaps hands with you.'
    >>> sentence(draw, 0, names, short=True)
    'Bob draws 4.'
    """
    row = ROWS[row_of(event)]
    if short:
        row = row.short or row
    message = row.others
    if viewer is not None and viewer == event.seat:
        message = row.you or message
    elif viewer is not None and viewer == event.target:
        message = row.to_you or message
    text = _sentence(message, event, names, short, say)
    if event.kind == "won" and type(event.points) is int:
        return " ".join((text, say.form("log", _POINTS, event.points)))
    return text


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


def row_of(event: Event) -> str:
    """Return the name of the row for an event."""
    kind, reason = event.kind, event.reason
    match kind:
        case "played" if event.color:
            return "played/color"
        case "drew":
            name = f"drew/{reason}" if f"drew/{reason}" in ROWS else "drew"
            return f"{name}/cards" if event.cards else name
        case "found" if event.card:
            return "found/card"
        case "challenged":
            return f"challenged/{reason}"
        case "flipped":
            # A wild that a Flip brings up has no colour (FLIP-2, TURN-8).
            wild = event.card is not None and not face_of(event.card).color
            return f"flipped/{reason}/wild" if wild else f"flipped/{reason}"
        case "slowest" if reason:
            return "slowest/lottery"
        case "turned_round" | "passed_hands":
            return f"{kind}/clockwise" if event.amount == 1 else f"{kind}/counter-clockwise"
        case "stack_gone" if not event.amount:
            return "stack_gone/color"
        case "won" if f"won/{reason}" in ROWS:
            return f"won/{reason}"
    return kind


def _sentence(message: Message, event: Event, names: Sequence[str], short: bool, say: Say) -> str:
    """Return a message of a row with the facts of the event."""
    held = event.cards or ()
    n = len(held) if event.amount is None else event.amount
    facts = {"seat": names[event.seat]}
    if event.target is not None:
        facts["target"] = names[event.target]
    if event.card:
        facts["card"] = card_name(event.card, say)
    if event.color:
        facts["color"] = color_word(event.color, say)
    if held:
        facts["cards"] = _counted(held, say) if short and n > LISTED_CARDS else _listed(held, say)
    return say.form("log", message, n, **facts)


def _listed(cards: Sequence[Card], say: Say) -> str:
    return ", ".join([card_name(card, say) for card in cards])


def _counted(cards: Sequence[Card], say: Say) -> str:
    """Return how many cards of each colour there are, the most first: `4 yellow, 3 green, 2 wild`."""
    colors = Counter(face_of(card).color for card in cards).most_common()
    return ", ".join([say.form("cards", _OF_A_COLOR[color], many) for color, many in colors])
