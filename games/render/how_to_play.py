"""How to play on one screen: a sentence or two for each part of the rules that a table plays by.

Texts have the markup of rules: `**bold**`, and rule numbers become links.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from games.rules import Options

_IN_WORDS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class HowToPlay(NamedTuple):
    """What a game is about, and its parts in the order in which a beginner needs them."""

    lead: str
    parts: list[str]


def how_to_play(options: Options, most_players: int) -> HowToPlay:
    """Return how to play at a table with these options and up to `most_players` players."""
    limit = f", and never hold {options.mercy_limit}" if options.mercy_limit else ""
    lead = (
        f"Be the first to get rid of all your cards{limit}. Two to {_words(most_players)} players,"
        f" {_cards(options.hand_size)} each."
    )
    return HowToPlay(lead, [text for part in _PARTS if (text := part(options))])


def _words(number: int) -> str:
    """Return a number up to ten as a word, and others in digits."""
    return _IN_WORDS[number] if number < len(_IN_WORDS) else f"{number:,}"


def _cards(number: int) -> str:
    return f"{_words(number)} {'card' if number == 1 else 'cards'}"


def _has(options: Options, symbol: str) -> bool:
    """Return True if a deck has a face with this symbol, on either side."""
    return any(face.symbol == symbol for side in options.rules.sides.values() for face in side.faces.values())


def _turn(options: Options) -> str:
    wild = "any wild" if options.buzzers == "off" else "any wild or buzzer"
    return f"**Your turn.** Play one card that matches the top card in colour, number or symbol, or {wild}. TURN-2"


def _first_card(options: Options) -> str:
    if options.first_discard == "number":
        return ""
    return "**The first card** on the discard pile may be an action card, and then acts on the first player. FIRST-1"


def _drawing(options: Options) -> str:
    if options.draw_until_playable:
        draw = "Draw until you get one"
        then = ", and play it." if options.drawn_must_play else ". Play it, or keep it and pass."
    else:
        draw = "Draw one card"
        then = ", and play it if you can." if options.drawn_must_play else ". If it is playable, play it or keep it."
    at_will = "You may draw even if you could play." if options.voluntary_draw else "You may draw only then."
    return f"**No playable card?** {draw}{then} {at_will} TURN-4"


_ANSWERS: Final = {
    "same": ("the same draw card, in any colour", "RESP-1"),
    "family": ("a draw card with the same or a higher number, coloured on coloured or wild on wild", "RESP-1"),
    "any": ("a draw card with the same or a higher number", "STACK-1"),
}
"""What may be stacked, by the option `stacking`, and the rule that says so."""


def _debts(options: Options) -> str:
    if options.stacking == "off":
        then = "who loses the turn. DRAW-1" if options.skip_after_draw else "who then has a turn as usual. DRAW-1 PAY-2"
        return f"**Draw cards** cannot be stacked. The cards are drawn by the next player, {then}"
    card, rule = _ANSWERS[options.stacking]
    take = "lose your turn." if options.skip_after_draw else "have a turn as usual."
    rule = rule if options.skip_after_draw else f"{rule} PAY-2"
    return (
        f"**Stack.** When you owe cards, play {card}, and the next player owes the total. Or take them all and {take}"
        f" {rule}"
    )


def _passing_on(options: Options) -> str:
    if not options.advanced_stacking:
        return ""
    wild = ", or with a plain Wild" if _has(options, "W") else ""
    ends = _has(options, "D")
    end = " A Discard All or Skip Everyone that matches cancels them." if ends else ""
    return (
        f"**Pass them on.** You can also pass owed cards to the next player with a Skip or Reverse that matches{wild}."
        f"{end} RESP-3{' RESP-4' if ends else ''}"
    )


def _sevens(options: Options) -> str:
    if not options.zero_seven:
        return ""
    swap = "A 7 swaps your hand with another player’s."
    if not _has(options, "0"):
        return f"**7.** {swap} SEVEN-1"
    return f"**7 and 0.** {swap} A 0 passes every hand to the next player. SEVEN-1 ZERO-1"


def _strong_cards(options: Options) -> str:
    if _has(options, "D"):
        shed = "**Discard All** discards all your cards of its colour."
        return f"**Skip Everyone** gives you another turn; {shed} ALL-1 DISC-1"
    return "**Skip Everyone** gives you another turn. ALL-1" if _has(options, "E") else ""


def _roulette(options: Options) -> str:
    if not _has(options, "WC"):
        return ""
    if options.roulette_color == "victim":
        return (
            "**Color Roulette.** The next player chooses a colour, turns over cards until it shows, and keeps them all."
            " ROUL-1"
        )
    return (
        "**Color Roulette.** Its player chooses a colour. The next player turns over cards until it shows, and keeps"
        " them all. ROUL-1 PAY-3"
    )


def _flip(options: Options) -> str:
    if not _has(options, "F"):
        return ""
    backs = " You see the hidden sides of the others’ cards, never of your own." if options.flip_backs == "seen" else ""
    return (
        "**Flip.** A Flip card turns all cards over, and then the other side counts. The dark side has a Draw Five, and"
        f" a Wild Draw Colour: the next player draws until the chosen colour shows.{backs} FLIP-2 FLIP-5 FLIP-6"
    )


def _straights(options: Options) -> str:
    if not options.straights:
        return ""
    wrap = " A 0 comes after a 9." if _has(options, "0") else ""
    return (
        "**Straights.** After a number you may also play the next one up or down in its colour, and so on."
        f"{wrap} RUN-1 RUN-2"
    )


def _interceptions(options: Options) -> str:
    if options.interceptions == "off":
        return ""
    same = "colour and kind" if options.interceptions == "exact" else "kind"
    points = options.interception_penalty
    miss = (
        f" At live tables a card that does not fit costs you {_words(points)} {'point' if points == 1 else 'points'}."
    )
    return (
        f"**Interceptions.** If you hold a card of the same {same} as the top card, play it out of turn, and the turn"
        " is yours. At tables that are not live, your standing orders intercept for you."
        f"{miss if points else ''} INT-1 INT-4"
    )


def _bluffs(options: Options) -> str:
    if options.bluff == "off":
        return ""
    if options.bluff == "official":
        held, more = "a card of the previous colour", ""
    else:
        held, more = "another playable card", ", and two more"
    return (
        "**Bluffs.** When a wild draw card makes you draw, you may challenge it. If its player held"
        f" {held}, that player draws the cards instead{more}. If not, you draw them, and two more. BLUFF-1 BLUFF-2"
    )


def _buzzers(options: Options) -> str:
    if options.buzzers == "off":
        return ""
    if options.buzzers == "race":
        return "**Buzzers.** When a buzzer is played everybody presses, and the slowest draws two cards. BUZZ-1 BUZZ-2"
    return "**Buzzers.** When a buzzer is played, chance picks a player, who draws two cards. BUZZ-1 BUZZ-3"


def _uno(options: Options) -> str:
    text = "**UNO.** Call UNO when you are down to one card."
    if options.callout_penalty:
        text += f" If someone catches you before you call it, you draw {_words(options.callout_penalty)}."
    if options.uno_window == "turn":
        return f"{text} UNO-1"
    return f"{text} They can catch you until your hand changes. UNO-1 CALL-1"


def _mercy(options: Options) -> str:
    return (
        f"**Mercy.** With {options.mercy_limit} cards you are out of the round. MERCY-1" if options.mercy_limit else ""
    )


def _last_card(options: Options) -> str:
    if options.last_draw_card == "contest":
        return ""
    how = "the next player still draws" if options.last_draw_card == "draw_then_win" else "nobody draws any more"
    return f"**A draw card as your last card** wins, and {how}. END-2"


def _winning(options: Options) -> str:
    text = "**Winning.** Play your last card, or be the last player left, and you win the round."
    out, out_rule = "", ""
    if options.mercy_limit and options.mercy_points:
        out, out_rule = f"{options.mercy_points:,}", " SCORE-2"
    held = " The cards a player holds when knocked out count too." if options.mercy_limit else ""
    held = held if options.mercy_card_points else ""
    out_rule += " ELIM-2" if held else ""
    if options.scoring == "winner":
        more = f", and {out} for each player who is out" if out else ""
        return f"{text} You score the cards the others hold{more}.{held} {_match_length(options)} SCORE-1{out_rule}"
    more = f", or {out} points if they are out" if out else ""
    fewest = " The fewest points win it." if options.is_match else ""
    return (
        f"{text} The others get points for the cards they hold{more}.{held} {_match_length(options)}{fewest}"
        f" SCORE-3 SCORE-4{' ELIM-2' if held else ''}"
    )


def _match_length(options: Options) -> str:
    if not options.is_match:
        return "You play a single round."
    ends = [f"to {options.target:,}"] if options.target else []
    if options.rounds:
        ends.append(f"for {_words(options.rounds)} {'round' if options.rounds == 1 else 'rounds'}")
    return f"A match goes {' or '.join(ends)}{', whichever comes first' if len(ends) == 2 else ''}."


def _time(options: Options) -> str:
    return (
        "**Time.** Each turn has a deadline, chosen with the table. When it passes, the clock draws or takes for you."
        " CLOCK-1"
    )


_PARTS: Final[tuple[Callable[[Options], str], ...]] = (
    _turn,
    _first_card,
    _drawing,
    _debts,
    _passing_on,
    _bluffs,
    _sevens,
    _strong_cards,
    _roulette,
    _flip,
    _straights,
    _interceptions,
    _buzzers,
    _uno,
    _mercy,
    _last_card,
    _winning,
    _time,
)
"""A function for each part, which returns an empty text where the options have no such part."""
