"""What each card of a table does, in one sentence with the number of its rule."""

from __future__ import annotations

from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games.queries import GameView
from games.render.rulebook import table_rules_url
from games.render.words import card_name, color_in_sentence
from games.rules import Effect, Face, Options
from games.rules.ruleset import SideRules


class CardRule(NamedTuple):
    """A card by its name, what it does, the number of the rule that says so, and the address of that rule."""

    name: str
    does: str
    rule: str
    url: str


_EFFECTS: Final[dict[Effect, tuple[str, str]]] = {
    "skip_next": (N_("The next player loses the turn."), "SKIP-1"),
    "skip_everyone": (N_("You take another turn."), "ALL-1"),
    "reverse_direction": (N_("The direction of play turns. With two players left, you play again."), "REV-1"),
    "pass_hands": (N_("Every hand moves on to the next player."), "ZERO-1"),
    "swap_hands": (N_("You swap hands with a player of your choice."), "SEVEN-1"),
    "roulette": (N_("The next player picks a colour and draws until it shows."), "ROUL-1"),
    "roulette_at_once": (N_("You pick a colour, and the next player draws until it shows."), "ROUL-1"),
    "flip": (N_("All cards turn over, and their other side counts."), "FLIP-2"),
    "buzzer_race": (N_("Everybody presses the buzzer, and the slowest draws two cards."), "BUZZ-2"),
    "buzzer_lottery": (N_("Chance picks a player, who draws two cards."), "BUZZ-3"),
}
"""What a card does by its first effect, and the rule. Draw cards have rows of their own."""

_DRAW_CARDS: Final = {
    (False, False, False): N_("The next player draws {n}."),
    (False, True, False): N_("Adds {n} to the stack. The next player draws it or stacks."),
    (True, False, False): N_("You pick a colour, and the next player draws {n}."),
    (True, True, False): N_("You pick a colour and add {n} to the stack. The next player draws it or stacks."),
    (True, False, True): N_("You pick a colour, and the next player draws {n} or challenges you."),
    (True, True, True): N_(
        "You pick a colour and add {n} to the stack. The next player draws it, stacks or challenges you."
    ),
}
"""What a draw card does: by whether it is wild, whether it can be stacked on, and whether it can be challenged."""

_REVERSE_DRAW_CARDS: Final = {
    False: N_(
        "The direction turns, you pick a colour, and the next player draws {n}. With two players left, that is you."
    ),
    True: N_(
        "The direction turns, you pick a colour and add {n} to the stack. The next player draws it or stacks."
        " With two players left, that is you."
    ),
}
"""What a Wild Reverse Draw Four does, by whether it can be stacked on."""

_ON_STACK: Final[dict[Effect, str]] = {
    "pass_debt_on": N_("On a stack, it passes the stack on."),
    "end_debt": N_("On a stack, it ends the stack."),
}
"""What else a card does that is played while cards are owed. Draw cards have no such sentence."""

_DRAW_COLOR: Final = {
    False: N_("You pick a colour, and the next player draws until it shows."),
    True: N_("You pick a colour, and the next player draws until it shows or challenges you."),
}
"""What a Wild Draw Colour does, by whether it can be challenged."""


def card_rules(view: GameView) -> list[CardRule]:
    """Return a row for each card of a table, on either side."""
    found = what_cards_do(view.options)
    return [CardRule(name, does, rule, table_rules_url(view, rule)) for name, (does, rule) in found.items()]


def what_cards_do(options: Options) -> dict[str, tuple[str, str]]:
    """Return what each card does with these options, and the number of its rule, by the card's name."""
    stacks = options.stacking != "off"
    sides = options.rules.sides.values()
    return {card_name(face.text): _does(face, side, stacks=stacks) for side in sides for face in side.faces.values()}


def _does(face: Face, side: SideRules, *, stacks: bool) -> tuple[str, str]:
    """Return what a card does at any moment, and the number of its rule. `stacks`: the table plays with stacking."""
    does, rule = _usually(face, side, stacks=stacks)
    if face.text not in side.passing:
        return does, rule
    on_stack = next(_ON_STACK[effect] for effect in face.answer if effect in _ON_STACK)
    return " ".join((does, say.text("card rule", on_stack))), rule


def _usually(face: Face, side: SideRules, *, stacks: bool) -> tuple[str, str]:
    """Return what a card does while no cards are owed, and for a draw card at any moment, and its rule."""
    effects, n = side.effects[face.text], say.number(face.value)
    if face.kind == "draw":
        challenged = "allow_challenge" in effects
        if not face.value:
            return say.text("card rule", _DRAW_COLOR[challenged]), "FLIP-5"
        if "next_owes_after_reverse" in effects:
            return say.text("card rule", _REVERSE_DRAW_CARDS[stacks], n=n), "WR4-1"
        return say.text("card rule", _DRAW_CARDS[not face.color, stacks, challenged], n=n), "DRAW-1"
    if face.text in side.sheds:
        cards_of_color = color_in_sentence(face.color)
        return say.text("card rule", "All your other {color} cards go with it.", color=cards_of_color), "DISC-1"
    if effects:
        message, rule = _EFFECTS[effects[0]]
        return say.text("card rule", message), rule
    if not face.color:
        return say.text("card rule", "It goes on any card, and you pick the colour."), "TURN-7"
    color = color_in_sentence(face.color)
    return say.text("card rule", "It goes on {color} or on another {n}.", color=color, n=face.symbol), "NUM-1"
