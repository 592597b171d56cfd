"""How to play on one screen: a sentence or two for each part of the rules that a table plays by.

Texts have the markup of rules: `**bold**`, and rule numbers become links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games.render.words import card_name
from games.rules import Options


class Picture(NamedTuple):
    """A face of a card, and the name of the side that has it: None if the deck has one side."""

    face: str
    side: str | None


class Part(NamedTuple):
    """A part of the rules, and pictures of cards that it is about."""

    text: str
    pictures: list[Picture]


class HowToPlay(NamedTuple):
    """What a game is about, and its parts in the order in which a beginner needs them."""

    lead: str
    parts: list[Part]


def how_to_play(options: Options, most_players: int) -> HowToPlay:
    """Return how to play at a table with these options and up to `most_players` players."""
    lead = _lines(
        say.text("how to play", "Be the first to get rid of all your cards."),
        options.mercy_limit and say.text("how to play", "Never hold {limit}.", limit=options.mercy_limit),
        say.plural(
            "how to play",
            "2 to {most} players, {n} card each.",
            "2 to {most} players, {n} cards each.",
            options.hand_size,
            most=most_players,
        ),
    )
    parts = [Part(text, _pictures(options, faces)) for part, faces in _PARTS if (text := part(options))]
    return HowToPlay(lead, parts)


def _lines(*lines: str | int) -> str:
    """Return sentences, and the numbers of their rules, one after the other. Empty ones are left out."""
    return " ".join(str(line) for line in lines if line)


def _has(options: Options, symbol: str) -> bool:
    """Return True if a deck has a face with this symbol, on either side."""
    return any(face.symbol == symbol for side in options.rules.sides.values() for face in side.faces.values())


_TURN: Final = {
    False: N_("**Your turn.** Play one card that matches the top card in colour, number or symbol, or any wild."),
    True: N_(
        "**Your turn.** Play one card that matches the top card in colour, number or symbol, or any wild or buzzer."
    ),
}
"""What may be played, without buzzers and with them."""


def _turn(options: Options) -> str:
    return _lines(say.text("how to play", _TURN[options.buzzers != "off"]), "TURN-2")


def _first_card(options: Options) -> str:
    if options.first_discard == "number":
        return ""
    first = say.text(
        "how to play",
        "**The first card** on the discard pile may be an action card, and then acts on the first player.",
    )
    return _lines(first, "FIRST-1")


_DRAWING: Final = {
    (True, True): N_("**No playable card?** Draw until you get one, and play it."),
    (True, False): N_("**No playable card?** Draw until you get one. Play it, or keep it and pass."),
    (False, True): N_("**No playable card?** Draw one card, and play it if you can."),
    (False, False): N_("**No playable card?** Draw one card. If it is playable, play it or keep it."),
}
"""How to draw, by the options `draw_until_playable` and `drawn_must_play`."""


def _drawing(options: Options) -> str:
    how = say.text("how to play", _DRAWING[options.draw_until_playable, options.drawn_must_play])
    if options.voluntary_draw:
        return _lines(how, say.text("how to play", "You may draw even if you could play."), "TURN-4")
    return _lines(how, say.text("how to play", "You may draw only then."), "TURN-4")


_ANSWERS: Final = {
    "same": (
        N_(
            "**Stack.** When you owe cards, play the same draw card, in any colour, and the next player owes the total."
        ),
        "RESP-1",
    ),
    "family": (
        N_(
            "**Stack.** When you owe cards, play a draw card with the same or a higher number, coloured on coloured or"
            " wild on wild, and the next player owes the total."
        ),
        "RESP-1",
    ),
    "any": (
        N_(
            "**Stack.** When you owe cards, play a draw card with the same or a higher number, and the next player owes"
            " the total."
        ),
        "STACK-1",
    ),
}
"""What may be stacked, by the option `stacking`, and the rule that says so."""


def _debts(options: Options) -> str:
    if options.stacking == "off":
        stays = say.text("how to play", "**Draw cards** cannot be stacked.")
        if options.skip_after_draw:
            return _lines(stays, say.text("how to play", "The next player draws them and loses the turn."), "DRAW-1")
        then = say.text("how to play", "The next player draws them, and then has a turn as usual.")
        return _lines(stays, then, "DRAW-1 PAY-2")
    message, rule = _ANSWERS[options.stacking]
    stack = say.text("how to play", message)
    if options.skip_after_draw:
        return _lines(stack, say.text("how to play", "Or take them all and lose your turn."), rule)
    return _lines(stack, say.text("how to play", "Or take them all and have a turn as usual."), rule, "PAY-2")


_PASSING_ON: Final = {
    False: N_("**Pass them on.** You can also pass owed cards to the next player with a Skip or Reverse that matches."),
    True: N_(
        "**Pass them on.** You can also pass owed cards to the next player with a Skip or Reverse that matches, or with"
        " a plain Wild."
    ),
}
"""How owed cards are passed on, with a deck without a plain Wild and with one."""


def _passing_on(options: Options) -> str:
    if not options.advanced_stacking:
        return ""
    passes = say.text("how to play", _PASSING_ON[_has(options, "W")])
    if not _has(options, "D"):
        return _lines(passes, "RESP-3")
    ends = say.text("how to play", "A Discard All or Skip Everyone that matches cancels them.")
    return _lines(passes, ends, "RESP-3 RESP-4")


def _sevens(options: Options) -> str:
    if not options.zero_seven:
        return ""
    if not _has(options, "0"):
        return _lines(say.text("how to play", "**7.** A 7 swaps your hand with another player’s."), "SEVEN-1")
    both = say.text(
        "how to play",
        "**7 and 0.** A 7 swaps your hand with another player’s. A 0 passes every hand to the next player.",
    )
    return _lines(both, "SEVEN-1 ZERO-1")


def _strong_cards(options: Options) -> str:
    if not _has(options, "E"):
        return ""
    again = say.text("how to play", "**Skip Everyone** gives you another turn.")
    if not _has(options, "D"):
        return _lines(again, "ALL-1")
    shed = say.text("how to play", "**Discard All** discards all your cards of its colour.")
    return _lines(again, shed, "ALL-1 DISC-1")


def _roulette(options: Options) -> str:
    if not _has(options, "WC"):
        return ""
    if options.roulette_color == "victim":
        theirs = say.text(
            "how to play",
            "**Color Roulette.** The next player chooses a colour, turns over cards until it shows, and keeps them"
            " all.",
        )
        return _lines(theirs, "ROUL-1")
    chosen = say.text(
        "how to play",
        "**Color Roulette.** Its player chooses a colour. The next player turns over cards until it shows, and keeps"
        " them all.",
    )
    return _lines(chosen, "ROUL-1 PAY-3")


def _flip(options: Options) -> str:
    if not _has(options, "F"):
        return ""
    return _lines(
        say.text("how to play", "**Flip.** A Flip card turns all cards over, and then the other side counts."),
        say.text(
            "how to play",
            "The dark side has a Draw Five, and a {card}: the next player draws until the chosen colour shows.",
            card=card_name("WD"),
        ),
        options.flip_backs == "seen"
        and say.text("how to play", "You see the hidden sides of the others’ cards, never of your own."),
        "FLIP-2 FLIP-5 FLIP-6",
    )


def _straights(options: Options) -> str:
    if not options.straights:
        return ""
    return _lines(
        say.text(
            "how to play",
            "**Straights.** After a number you may also play the next one up or down in its colour, and so on.",
        ),
        _has(options, "0") and say.text("how to play", "A 0 comes after a 9."),
        "RUN-1 RUN-2",
    )


_INTERCEPTIONS: Final = {
    "super": N_(
        "**Interceptions.** If you hold a card of the same kind as the top card, play it out of turn, and the turn is"
        " yours."
    ),
    "exact": N_(
        "**Interceptions.** If you hold a card of the same colour and kind as the top card, play it out of turn, and"
        " the turn is yours."
    ),
}
"""What intercepts, by the option `interceptions`."""


def _interceptions(options: Options) -> str:
    if options.interceptions == "off":
        return ""
    return _lines(
        say.text("how to play", _INTERCEPTIONS[options.interceptions]),
        say.text("how to play", "At tables that are not live, your standing orders intercept for you."),
        options.interception_penalty
        and say.plural(
            "how to play",
            "At live tables a card that does not fit costs you {n} point.",
            "At live tables a card that does not fit costs you {n} points.",
            options.interception_penalty,
        ),
        "INT-1 INT-4",
    )


def _bluffs(options: Options) -> str:
    if options.bluff == "off":
        return ""
    if options.bluff == "official":
        right = say.text(
            "how to play",
            "If its player held a card of the previous colour, that player draws the cards instead.",
        )
    else:
        right = say.text(
            "how to play",
            "If its player held another playable card, that player draws the cards instead, and two more.",
        )
    return _lines(
        say.text("how to play", "**Bluffs.** When a wild draw card makes you draw, you may challenge it."),
        right,
        say.text("how to play", "If not, you draw them, and two more."),
        "BLUFF-1 BLUFF-2",
    )


def _buzzers(options: Options) -> str:
    if options.buzzers == "off":
        return ""
    if options.buzzers == "race":
        race = say.text(
            "how to play", "**Buzzers.** When a buzzer is played everybody presses, and the slowest draws two cards."
        )
        return _lines(race, "BUZZ-1 BUZZ-2")
    lot = say.text("how to play", "**Buzzers.** When a buzzer is played, chance picks a player, who draws two cards.")
    return _lines(lot, "BUZZ-1 BUZZ-3")


def _uno(options: Options) -> str:
    until_turn = options.uno_window == "turn"
    return _lines(
        say.text("how to play", "**UNO.** Call UNO when you are down to one card."),
        options.callout_penalty
        and say.plural(
            "how to play",
            "If someone catches you before you call it, you draw {n} card.",
            "If someone catches you before you call it, you draw {n} cards.",
            options.callout_penalty,
        ),
        not until_turn and say.text("how to play", "They can catch you until your hand changes."),
        "UNO-1",
        not until_turn and "CALL-1",
    )


def _mercy(options: Options) -> str:
    if not options.mercy_limit:
        return ""
    out = say.plural(
        "how to play",
        "**Mercy.** With {n} card you are out of the round.",
        "**Mercy.** With {n} cards you are out of the round.",
        options.mercy_limit,
    )
    return _lines(out, "MERCY-1")


def _last_card(options: Options) -> str:
    if options.last_draw_card == "contest":
        return ""
    if options.last_draw_card == "draw_then_win":
        wins = say.text("how to play", "**A draw card as your last card** wins, and the next player still draws.")
    else:
        wins = say.text("how to play", "**A draw card as your last card** wins, and nobody draws any more.")
    return _lines(wins, "END-2")


def _winning(options: Options) -> str:
    by_winner = options.scoring == "winner"
    held = options.mercy_limit and options.mercy_card_points
    return _lines(
        say.text("how to play", "**Winning.** Play your last card, or be the last player left, and you win the round."),
        _points_of_winner(options) if by_winner else _points_of_others(options),
        held and say.text("how to play", "The cards a player holds when knocked out count too."),
        _match_length(options),
        not by_winner and options.is_match and say.text("how to play", "The fewest points win it."),
        "SCORE-1" if by_winner else "SCORE-3 SCORE-4",
        by_winner and _points_of_a_player_out(options) and "SCORE-2",
        held and "ELIM-2",
    )


def _points_of_a_player_out(options: Options) -> int:
    """Return the points for a player who is out by the mercy rule, 0 if there are none."""
    return options.mercy_points if options.mercy_limit else 0


def _points_of_winner(options: Options) -> str:
    if out := _points_of_a_player_out(options):
        return say.plural(
            "how to play",
            "You score the cards the others hold, and {n} point for each player who is out.",
            "You score the cards the others hold, and {n} points for each player who is out.",
            out,
        )
    return say.text("how to play", "You score the cards the others hold.")


def _points_of_others(options: Options) -> str:
    if out := _points_of_a_player_out(options):
        return say.plural(
            "how to play",
            "The others get points for the cards they hold, or {n} point if they are out.",
            "The others get points for the cards they hold, or {n} points if they are out.",
            out,
        )
    return say.text("how to play", "The others get points for the cards they hold.")


def _match_length(options: Options) -> str:
    points = say.number(options.target)
    if not options.is_match:
        return say.text("how to play", "You play a single round.")
    if not options.rounds:
        return say.text("how to play", "A match goes to {points}.", points=points)
    if not options.target:
        return say.plural("how to play", "A match goes for {n} round.", "A match goes for {n} rounds.", options.rounds)
    return say.plural(
        "how to play",
        "A match goes to {points} or for {n} round, whichever comes first.",
        "A match goes to {points} or for {n} rounds, whichever comes first.",
        options.rounds,
        points=points,
    )


def _time(options: Options) -> str:
    return _lines(
        say.text("how to play", "**Time.** Each turn has a deadline, chosen with the table."),
        say.text("how to play", "When it passes, the clock draws or takes for you."),
        "CLOCK-1",
    )


_PARTS: Final[tuple[tuple[Callable[[Options], str], tuple[str, ...]], ...]] = (
    (_turn, ("r5", "b5")),
    (_first_card, ("yS",)),
    (_drawing, ()),
    (_debts, ("r+2", "y+4", "r+1", "W4", "W2")),
    (_passing_on, ("gS", "bR")),
    (_bluffs, ("W4", "W2")),
    (_sevens, ("r7", "b0")),
    (_strong_cards, ("gE", "yD", "uE")),
    (_roulette, ("WC",)),
    (_flip, ("gF", "WD")),
    (_straights, ("b4", "b5")),
    (_interceptions, ("g8", "r8")),
    (_buzzers, ("BZ",)),
    (_uno, ("y3",)),
    (_mercy, ()),
    (_last_card, ("b+2", "b+1")),
    (_winning, ()),
    (_time, ()),
)
"""A function for each part, which returns an empty text where the options have no such part, and faces that show what
it is about. The first two that are in the deck are shown."""


def _pictures(options: Options, faces: Sequence[str]) -> list[Picture]:
    sides = options.rules.sides.values()
    return [Picture(face, side.name) for face in faces for side in sides if face in side.faces][:2]
