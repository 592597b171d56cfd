"""The numbered rules of the variants: decks, debts, calls and straights."""

from __future__ import annotations

from typing import Final

from games.rules.option_checks import has_flip_deck, has_no_mercy_deck
from games.rules.options import Options
from games.rules.rulebook_rule import Rule, RulePart, for_no_table, has_contests, has_sevens

_TO_THE_BOTTOM: Final = "Wild Draw Four, Wild Draw Two, Flip or buzzer"


def _has_buzzers(options: Options) -> bool:
    return options.buzzers != "off"


TURN_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "OPT-1",
        "Options and presets",
        "Some options do not go together. They are refused with one sentence: `advanced_stacking` without "
        "`stacking` or without `last_draw_card` contest; `bluff` or the "
        "`official` first discard with a No Mercy deck; buzzers, or `roulette_color` victim, with the Flip deck; "
        "`flip_backs` seen with another deck; and a `hand_size` that leaves fewer than 20 cards after the deal.",
        "O",
    ),
    Rule(
        "OPT-2",
        "Options and presets",
        "A No Mercy deck with `mercy_limit` 0 is allowed, with a warning: hands may grow until the piles run short.",
        "P",
        applies=lambda options: has_no_mercy_deck(options) and not options.mercy_limit,
    ),
    Rule(
        "DECK-2",
        "Decks",
        "The order that a deck is shuffled from: for each colour the numbers ascending, each as often as it is "
        "there, then Skip, Reverse, Skip Everyone, Discard All, Flip and the draw cards from low to high, those "
        "that the deck has; then the wilds; the four plain Wilds of `nomercy172` after its other wilds; buzzers "
        "last. The colours are red, yellow, green, blue, and on the dark side orange, pink, purple, teal.",
        "O",
    ),
    Rule(
        "PAIR-1",
        "Decks",
        "In the Flip deck each card has a light and a dark face. The k-th light face in the order of DECK-2 is "
        "paired with the k-th of the dark faces, shuffled with the stream `p0`. If a card is then wild on both "
        "sides, or a Flip on both, the dark faces are shuffled again from the order of DECK-2, with `p1`, and so "
        "on. The cards, in the order of their light faces, are then shuffled and dealt.",
        "counts S, pairing O",
        applies=has_flip_deck,
    ),
    Rule(
        "FIRST-1",
        "Decks",
        "A Wild Draw Four, Wild Draw Two, Flip or buzzer turned up to start the discard pile goes to the bottom of "
        "the draw pile, and the next card is turned up. Any other card stays and acts. A number, 0 and 7 included: "
        "nothing. Wild: no colour is in force (TURN-8). Skip: the first player is passed over. Reverse: the "
        "direction turns and the dealer begins. Draw Two or Draw One: the first player owes its value. This card "
        "opens no straight, and it may be intercepted.",
        "S; bottom of the pile O",
        applies=lambda options: options.first_discard == "official",
        parts=(
            RulePart(_TO_THE_BOTTOM, lambda options: not has_flip_deck(options), "Wild Draw Two or Flip"),
            RulePart(_TO_THE_BOTTOM, _has_buzzers, "Wild Draw Four"),
            RulePart(_TO_THE_BOTTOM, for_no_table, "Wild Draw Four or buzzer"),
            RulePart("Draw Two or Draw One", has_flip_deck, "Draw Two"),
            RulePart("Draw Two or Draw One", lambda options: not has_flip_deck(options), "Draw One"),
            RulePart(
                " This card opens no straight, and it may be intercepted.", lambda options: options.plays_out_of_turn
            ),
        ),
    ),
    Rule(
        "TURN-8",
        "Decks",
        "While no colour is in force (after a buzzer, a first Wild, or a wild that a Flip brought up), every card "
        "may be played.",
        "O",
        applies=lambda options: (
            options.buzzers != "off" or options.first_discard == "official" or has_flip_deck(options)
        ),
        parts=(
            RulePart("a buzzer, a first Wild", lambda options: options.first_discard == "official", "a buzzer"),
            RulePart("a buzzer, ", _has_buzzers),
            RulePart(", or a wild that a Flip brought up", has_flip_deck),
        ),
    ),
    Rule(
        "STUCK-1",
        "Decks",
        "At a table whose players could hold the whole deck (`mercy_limit` 0, or so high a limit that all hands "
        "together may have all cards but one): when as many turns in a row as there are players still in have ended "
        "with a draw that found no card at all, the round is over. The fewest hand points win; ties go to the first "
        "of them after the seat that passed last, in the direction of play. A card that anybody plays or draws "
        "starts the count again. It is tested after such a draw only, not when somebody leaves.",
        "O",
        reachable=lambda options, players: options.may_hold_all_cards(players),
    ),
    Rule(
        "PAY-1",
        "Paying",
        "Where the next player could do nothing but take (no answer is possible by the options, and there is "
        "nothing to challenge), the cards are drawn inside the move that made the debt. An answer is possible if "
        "`stacking` is not off and the debt is not that of a Wild Draw Colour.",
        "O",
        applies=lambda options: options.stacking == "off" or has_flip_deck(options),
    ),
    Rule(
        "PAY-2",
        "Paying",
        "A player who has paid a debt or a roulette has a turn as usual (play or draw) unless the option "
        "`skip_after_draw` is on. This takes precedence over WR4-2. A stack that comes back to a player who went "
        "out (END-2) always costs the turn. If somebody went out on the debt, the round ends first (END-2).",
        "P, S",
        applies=lambda options: not options.skip_after_draw,
        parts=(
            RulePart(" or a roulette", has_no_mercy_deck),
            RulePart(" This takes precedence over WR4-2.", has_no_mercy_deck),
            RulePart(
                " A stack that comes back to a player who went out (END-2) always costs the turn. If somebody went out "
                "on the debt, the round ends first (END-2).",
                has_contests,
            ),
        ),
    ),
    Rule(
        "PAY-3",
        "Paying",
        "A roulette that names its colour with the play is turned over inside that move. Whether its victim then "
        "has a turn, PAY-2 says.",
        "P",
        applies=lambda options: options.roulette_color == "player" and has_no_mercy_deck(options),
    ),
    Rule(
        "PAY-4",
        "Paying",
        "If a last draw card is drawn without an answer, a last Wild Reverse Draw Four with two players left is "
        "drawn by the other player.",
        "O",
        applies=lambda options: options.last_draw_card == "draw_then_win" and has_no_mercy_deck(options),
    ),
    Rule(
        "RESP-1",
        "Answers",
        "Which draw cards answer a draw card. `same`: only the same symbol as the last draw card, in any colour. "
        "`family`: a draw card of equal or higher value, coloured on coloured and wild on wild. `any`: any draw "
        "card of equal or higher value (STACK-1). `off`: none.",
        "P; any S",
        applies=lambda options: options.stacking in ("same", "family"),
    ),
    Rule(
        "RESP-2",
        "Answers",
        "A debt keeps the symbol and the value of the last *draw* card on it, whatever lies on top.",
        "O",
        applies=lambda options: options.advanced_stacking,
    ),
    Rule(
        "RESP-3",
        "Answers",
        "A player who owes cards may also play a Skip or Reverse that matches the top card by TURN-2, or a plain "
        "Wild: the whole debt passes on. Skip: to the next player, and nobody is skipped. Reverse: the direction "
        "turns, then to the next player; with two players left that is the other one. Wild: its player names the "
        "colour, then to the next player.",
        "P; must match O",
        applies=lambda options: options.advanced_stacking,
    ),
    Rule(
        "RESP-4",
        "Answers",
        "A Discard All or Skip Everyone that matches by TURN-2 ends the debt: it is gone, also for players who went "
        "out on it; the first of them wins at once (END-3). Otherwise the card does what it always does. Played as "
        "the last card it wins at once, unless others went out on the debt: a Discard All sheds first, then the "
        "first of them wins, and the log says why.",
        "P; own effect O",
        applies=lambda options: options.advanced_stacking and has_no_mercy_deck(options),
    ),
    Rule(
        "RESP-5",
        "Answers",
        "A player who passes a debt on with the last card has gone out as with a draw card (END-2).",
        "P",
        applies=lambda options: options.advanced_stacking,
    ),
    Rule(
        "RESP-6",
        "Answers",
        "Nothing answers, passes on or ends a Wild Draw Colour or a Color Roulette. A buzzer is no answer.",
        "O",
        applies=lambda options: has_no_mercy_deck(options) or has_flip_deck(options) or options.buzzers != "off",
        parts=(
            RulePart(
                "Nothing answers, passes on or ends a Wild Draw Colour or a Color Roulette. ",
                lambda options: has_no_mercy_deck(options) or has_flip_deck(options),
            ),
            RulePart("a Wild Draw Colour or a Color", has_flip_deck, "a Color"),
            RulePart(" or a Color Roulette", has_no_mercy_deck),
            RulePart(" A buzzer is no answer.", _has_buzzers),
        ),
    ),
    Rule(
        "CALL-1",
        "Calls",
        "A window stays open until its player calls, is caught, or holds another number of cards or another hand, "
        "or until the round or the table's callout time ends. UNO-3 does not apply.",
        "P",
        applies=lambda options: options.uno_window == "open",
    ),
    Rule(
        "CALL-2",
        "Calls",
        "UNO-1 counts however a play came: in turn, as a step of a straight, as an interception. The hand that "
        "counts is the one after everything that the play brings with it (a swap, a pass, a stack that comes back "
        "at once). A player who only drew owes no call.",
        "O",
        parts=(
            RulePart(
                " (a swap, a pass, a stack that comes back at once)",
                lambda options: has_sevens(options) or has_contests(options),
            ),
            RulePart(
                ": in turn, as a step of a straight, as an interception", lambda options: options.plays_out_of_turn
            ),
        ),
    ),
    Rule(
        "CALL-3",
        "Calls",
        "Every accepted turn move closes windows as UNO-3 says, a challenge and a pass too. Pressing a buzzer is no "
        "turn move.",
        "O",
        applies=lambda options: options.uno_window == "turn",
        parts=(RulePart(" Pressing a buzzer is no turn move.", _has_buzzers),),
    ),
    Rule(
        "CALL-4",
        "Calls",
        "With `uno_on_received_hand` off a call said with the play still counts. A false catch may name any other "
        "seat still in. A player who went out and draws for one has no longer gone out.",
        "O",
        applies=lambda options: not options.uno_on_received_hand or options.false_catch_penalty > 0,
    ),
    Rule(
        "RUN-1",
        "Straights",
        "A number that the player on turn plays, and that leaves a hand, opens a straight. An interception does "
        "not, and neither does a 0 or 7 that acts (`zero_seven`).",
        "P",
        applies=lambda options: options.straights,
    ),
    Rule(
        "RUN-2",
        "Straights",
        "While a straight is open and no card is drawn, its player may play a number of the same colour that is one "
        "higher or lower, although another player is on turn; 9 and 0 are neighbours, and the direction of the "
        "numbers may change. The turn does not move. The card is the new top card and the last card of the "
        "straight. No debt can be running then.",
        "P, L",
        applies=lambda options: options.straights,
    ),
    Rule(
        "RUN-3",
        "Straights",
        "A step with a 0 or 7 acts at once and closes the straight. A 7 names its target unless it is the last card.",
        "O",
        applies=lambda options: options.straights and options.zero_seven,
    ),
    Rule(
        "RUN-4",
        "Straights",
        "A straight closes at the next accepted turn move of the player on turn, at an interception, when its "
        "player is out, and whenever the turn moves.",
        "P; draw O",
        applies=lambda options: options.straights,
    ),
    Rule(
        "RUN-5",
        "Straights",
        "A last card in a straight wins at once. A step closes the UNO windows of others as any play does (UNO-3).",
        "O",
        applies=lambda options: options.straights,
    ),
    Rule(
        "RUN-6",
        "Straights",
        "A page or a program may send several lines of one seat at once (in the API: `then`): all of them are "
        "saved, or none.",
        "O",
        applies=lambda options: options.straights,
    ),
)
