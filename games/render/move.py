"""The section "Your move": its buttons, the choosers for a colour or a swap, and the UNO switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_, Message
from games import rules
from games.queries import GameView
from games.render.confirm import move_in
from games.render.mercy import drawing_puts_out
from games.render.straight import BETWEEN, chosen_plays
from games.render.table import move_by_click
from games.render.words import card_name, cards, color, color_in_sentence, listed


class MoveChoice(NamedTuple):
    """A button of a chooser, which makes the move `move`. `color` is empty where a player or a card is chosen.

    `field` is the form field that the button sends: with `choose` it makes no move, but opens the next chooser.
    `is_player`: it chooses a player.
    """

    id: int | str
    name: str
    note: str
    move: str
    color: str = ""
    field: str = "move"
    is_player: bool = False


class Chooser(NamedTuple):
    """The choice of a colour, a player or the next card of a straight, or the question before a move.

    `cancel_url` is empty if no other card can be played. `help` says how to choose, or who draws for the card.
    `card` is the card that is being played, empty if it is none, and `side` the side in force, None if the deck has
    one side. `sure` is the move that the reader is asked about, else empty.
    """

    question: str
    choices: Sequence[MoveChoice]
    cancel_url: str = ""
    help: str = ""
    card: str = ""
    side: str | None = None
    sure: str = ""


class Button(NamedTuple):
    """A button that makes the move `move`. `style` is its CSS classes, `key` its keyboard shortcut."""

    id: str
    move: str
    label: str
    style: str
    key: str = ""


class UnoToggle(NamedTuple):
    """The switch that calls UNO together with the next play. `key` is its keyboard shortcut."""

    on: bool
    key: str


class YourMove(NamedTuple):
    """The section "Your move", or whatever else its `title` says. `uno` is None if no play leaves one card.

    `hint` may be empty. `catches` are the buttons to catch somebody. They have a place of their own, so that no other
    button moves when one appears.
    """

    title: str
    chooser: Chooser | None
    buttons: Sequence[Button]
    uno: UnoToggle | None
    hint: str
    catches: Sequence[Button] = ()


HOW_TO_SEND_A_STRAIGHT: Final = N_("All in one go: a straight can’t be continued later.")
YOU_DRAW: Final = {
    False: N_("With two players left, you draw {n}."),
    True: N_("With two players left, you draw {n} or stack."),
}
"""What a Wild Reverse Draw Four does with two players left, by whether it can be stacked on."""
NEXT_DRAWS: Final = {
    (False, False): N_("{name} draws {n}."),
    (True, False): N_("{name} draws {n} or stacks."),
    (False, True): N_("{name} draws {n} or challenges you."),
    (True, True): N_("{name} draws {n}, stacks or challenges you."),
}
"""What other wild draw cards do, by whether they can be stacked on and challenged."""
NEXT_DRAWS_COLOR: Final = {
    False: N_("{name} draws until it shows."),
    True: N_("{name} draws until it shows or challenges you."),
}
"""What a wild does that draws until its colour shows, by whether it can be challenged."""
PLAY_QUESTIONS: Final = {
    ("", False): N_("Play {card}?"),
    ("", True): N_("Play {card} and call UNO?"),
    ("color", False): N_("Play {card} and choose {color}?"),
    ("color", True): N_("Play {card}, choose {color} and call UNO?"),
    ("target", False): N_("Play {card} and swap hands with {name}?"),
    ("target", True): N_("Play {card}, swap hands with {name} and call UNO?"),
}
"""The question before a play, by what is chosen with it and whether it calls UNO."""
QUESTIONS: Final[dict[tuple[str, bool], Message]] = {
    ("draw", True): N_("Draw a card?"),
    ("draw", False): N_("Draw until one fits?"),
    ("take", True): (N_("Take {n} card?"), N_("Take {n} cards?")),
    ("take", False): N_("Take the cards?"),
    ("pass", True): N_("Keep the card and pass?"),
    ("challenge", True): N_("Challenge {name}?"),
}
"""The question before another move, by its kind and whether it is known how many cards it costs."""
YES: Final = {
    "play": N_("Yes, play it"),
    "draw": N_("Yes, draw"),
    "take": N_("Yes, take them"),
    "pass": N_("Yes, keep it"),
    "challenge": N_("Yes, challenge"),
}
DRAW_KEYS: Final = "space x"
UNO_KEY: Final = "u"
CHALLENGE_KEY: Final = "f"
BUZZ_KEYS: Final = "space b"
UNO_KEY_BESIDE_PURPLE: Final = "shift+u"
"""The key for UNO while U chooses purple."""


def move_of(view: GameView, *, choose: str, uno: bool, here: str) -> YourMove | None:
    """Return the section "Your move", or None if the reader has no legal move.

    `choose` is the card that the reader is playing and whose colour or swap target is still open, or the cards of a
    straight, or a move that the page asks about, or empty. `here` is the page's address.
    """
    seen = view.view
    if seen is None or not view.legal:
        return None
    asked = move_in(view, choose)
    straight = chosen_plays(view, choose) if asked is None else []
    if asked is not None:
        chooser: Chooser | None = _question(view, seen, asked, here)
    else:
        chooser = _next_card(view, seen, straight, here) if straight else _chooser(view, seen, choose, here)
    colors = [choice.color for choice in chooser.choices] if chooser else ()
    uno_key = UNO_KEY_BESIDE_PURPLE if UNO_KEY in colors else UNO_KEY
    return YourMove(
        title=say.text("move", "Your move") if view.my_turn else say.text("move", "Out of turn"),
        chooser=chooser,
        buttons=[*(_turn_buttons(view, seen, chooser) if asked is None else ()), *_calls(view, uno_key)],
        uno=UnoToggle(uno, uno_key) if asked is None and (straight or _may_leave_one(view, seen)) else None,
        hint=_hint(view, seen),
        catches=_catches(view, uno_key),
    )


def _chooser(view: GameView, seen: rules.View, choose: str, here: str) -> Chooser | None:
    """Return the choice for the roulette, the drawn card or the card `choose`; None if there is none."""
    if view.my_turn and seen.phase == "choose_color":
        question = say.text("move", "Which colour stops the roulette?")
        return Chooser(question, _colors(view.legal, seen.hand or ()))
    card = seen.drawn or choose
    ways = view.plays.get(card, ())
    if len(ways) < 2:  # a swap with the only other player needs no choice
        return None
    name = card_name(card)
    # A card that was drawn must be played: there is no other to go back to.
    cancel_url = "" if seen.drawn else here
    if ways[0].target is not None:
        question = say.text("move", "{card}: who do you swap hands with?", card=name)
        return Chooser(question, _targets(view, ways), cancel_url, card=card, side=seen.side)
    rest = list(seen.hand or ())
    rest.remove(card)
    question = say.text("move", "Which colour for {card}?", card=name)
    return Chooser(question, _colors(ways, rest), cancel_url, _who_draws(view, seen, card), card, seen.side)


def _question(view: GameView, seen: rules.View, move: rules.Move, here: str) -> Chooser:
    """Return the question before a move of the turn, with what that costs."""
    owed, costs, name = seen.pending.total if seen.pending else 1, "", ""
    if move.kind == "play":
        chosen = "color" if move.color else "target" if move.target is not None else ""
        question: Message = PLAY_QUESTIONS[chosen, move.uno]
        name = view.names[move.target] if move.target is not None else ""
    elif move.kind == "challenge" and seen.challenge is not None:
        question, name = QUESTIONS["challenge", True], view.names[seen.challenge]  # the hint says what it costs
    else:
        is_known = owed > 0 and not (move.kind == "draw" and view.options.draw_until_playable)
        question = QUESTIONS[move.kind, is_known]
        if move.kind != "pass" and drawing_puts_out(view, seen):
            costs = say.text("question", "That puts you out.")
    card, color_word = card_name(move.card) if move.card else "", color_in_sentence(move.color) if move.color else ""
    return Chooser(
        say.form("question", question, owed, card=card, color=color_word, name=name),
        [MoveChoice("yes", say.text("question", YES[move.kind]), "", "1", field="sure")],
        f"{here}?uno=1" if move.uno else here,
        costs,
        move.card or "",
        seen.side,
        str(move),
    )


def _who_draws(view: GameView, seen: rules.View, card: str) -> str:
    """Return who draws for a wild of the reader, empty if nobody does or it is the last card (DRAW-1, WR4-2)."""
    side, stacks = view.options.rules.sides[seen.side], view.options.stacking != "off"
    effects, face = side.effects[card], side.faces[card]
    if view.you is None or not effects or len(seen.hand or ()) < 2:
        return ""
    n = say.number(face.value + (seen.pending.total if seen.pending else 0))
    turns = "next_owes_after_reverse" in effects
    if turns and len(seen.counts) - len(seen.out) == 2:
        return say.text("move", YOU_DRAW[stacks], n=n)
    name = view.names[seen.previous_seat(view.you) if turns else seen.next_seat(view.you)]
    challenged = "allow_challenge" in effects
    message = NEXT_DRAWS[stacks, challenged] if face.value else NEXT_DRAWS_COLOR[challenged]
    return say.text("move", message, name=name, n=n)


def _next_card(view: GameView, seen: rules.View, straight: Sequence[rules.Move], here: str) -> Chooser:
    """Return the choice to play the cards of a straight that are chosen, or to choose one more."""
    names = [card_name(move.card or "") for move in straight]
    label = say.plural("move", "Play only this card", "Play these {n} cards", len(names))
    choices = [MoveChoice("these", label, listed(names), BETWEEN.join(map(str, straight)))]
    for step in rules.next_steps(seen, straight):
        note = ""
        if step.target is not None:
            note = say.text("move", "and swap hands with {name}", name=view.names[step.target])
        chosen = BETWEEN.join(str(move).removeprefix("play ") for move in (*straight, step))
        name = say.text("move", "And then {card}", card=card_name(step.card or ""))
        choices.append(MoveChoice(len(choices), name, note, chosen, field="choose"))
    cancel_url, last = "" if seen.drawn else here, straight[-1].card or ""
    question, how = say.text("move", "Continue the straight?"), say.text("move", HOW_TO_SEND_A_STRAIGHT)
    return Chooser(question, choices, cancel_url, how, last, seen.side)


def _colors(ways: Sequence[rules.Move], held: Sequence[str]) -> list[MoveChoice]:
    mine = [rules.face_of(card).color for card in held]
    return [
        MoveChoice(letter, color(letter), say.text("move", "you hold {n}", n=mine.count(letter)), str(move), letter)
        for move in ways
        if (letter := move.color) is not None
    ]


def _targets(view: GameView, ways: Sequence[rules.Move]) -> list[MoveChoice]:
    return [
        MoveChoice(
            move.target, view.names[move.target], cards(view.seats[move.target].cards), str(move), is_player=True
        )
        for move in ways
        if move.target is not None
    ]


def _turn_buttons(view: GameView, seen: rules.View, chooser: Chooser | None) -> list[Button]:
    """Return the buttons of the turn apart from the hand. While a choice is open, only those that end it."""
    kinds = {move.kind for move in view.legal}
    buttons: list[Button] = []
    if "pass" in kinds:
        buttons.append(_draw_button("pass", say.text("button", "Keep it and pass"), primary=False))
    if chooser is not None:
        return buttons
    if seen.drawn is not None:
        label = say.text("button", "Play {card}", card=card_name(seen.drawn))
        move = move_by_click(seen.drawn, view.plays.get(seen.drawn, ()))
        buttons.insert(0, Button("play-drawn", move, label, "primary"))
    if "take" in kinds and seen.pending is not None:
        owed = seen.pending.total
        # How many cards a colour costs is not known before it shows.
        if drawing_puts_out(view, seen):
            label = say.text("button", "Take {n}: you’re out", n=owed)
        else:
            label = say.text("button", "Take {n}", n=owed) if owed else say.text("button", "Take the cards")
        buttons.append(_draw_button("take", label))
    if "challenge" in kinds and seen.challenge is not None:
        label = say.text("button", "Challenge {name}", name=view.names[seen.challenge])
        buttons.append(Button("challenge", "challenge", label, "", CHALLENGE_KEY))
    if "draw" in kinds:
        if drawing_puts_out(view, seen):
            label = N_("Draw: you’re out")
        else:
            label = N_("Draw until one fits") if view.options.draw_until_playable else N_("Draw")
        buttons.append(_draw_button("draw", say.text("button", label), primary="play" not in kinds))
    return buttons


def _draw_button(move: str, label: str, *, primary: bool = True) -> Button:
    # Drawing, taking and keeping are never offered together, so they share id and key.
    return Button("draw", move, label, "primary" if primary else "", key=DRAW_KEYS)


def _calls(view: GameView, key: str) -> list[Button]:
    buttons: list[Button] = []
    for move in view.legal:
        if move.kind == "buzz":
            buttons.append(Button("buzz", "buzz", say.text("button", "Press the buzzer"), "", BUZZ_KEYS))
        elif move.kind == "uno":
            buttons.append(Button("uno-call", "uno", say.text("button", "Call UNO"), "primary", key))
    return buttons


def _catches(view: GameView, key: str) -> list[Button]:
    buttons: list[Button] = []
    for move in view.legal:
        if move.kind == "catch" and move.target is not None:
            seat = view.seats[move.target]
            style = "danger" if seat.exposed else "quiet"
            label = say.text("button", "Catch {name}", name=seat.name)
            buttons.append(Button(f"catch-{seat.seat}", str(move), label, style, key))
    return buttons


def _hint(view: GameView, seen: rules.View) -> str:
    if view.you is not None and view.seats[view.you].exposed:
        return say.text("hint", "You have one card. Call UNO before someone catches you.")
    if seen.challenge is not None and any(move.kind == "challenge" for move in view.legal):
        return _cost_of_challenge(view, seen, seen.challenge)
    return ""


def _cost_of_challenge(view: GameView, seen: rules.View, seat: int) -> str:
    """Return what each outcome of a challenge costs (BLUFF-3, BLUFF-4, BLUFF-5)."""
    assert seen.pending is not None
    owed, name = seen.pending.total, view.names[seat]
    more, more_if_wrong = (rules.more_cards_by_challenge(view.options, right=right) for right in (True, False))
    if owed:
        right, wrong = owed + more, owed + more_if_wrong
        return " ".join(
            [
                say.text("hint", "A bluff: {name} draws {n}.", name=name, n=right),
                say.text("hint", "No bluff: you draw {n}.", n=wrong),
            ]
        )
    if more:
        draws = say.text("hint", "A bluff: {name} draws until the colour shows, and {n} more.", name=name, n=more)
    else:
        draws = say.text("hint", "A bluff: {name} draws until the colour shows.", name=name)
    return " ".join([draws, say.text("hint", "No bluff: you do, and {n} more.", n=more_if_wrong)])


def _may_leave_one(view: GameView, seen: rules.View) -> bool:
    """Return True if a legal play would leave the reader one card, so they may want to call UNO with it."""
    return any(rules.cards_after(seen, move) == 1 for move in view.legal if move.kind == "play")
