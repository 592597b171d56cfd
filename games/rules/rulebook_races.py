"""The numbered rules of the variants: interceptions, bluffs, buzzers, elimination, matches and the Flip deck."""

from __future__ import annotations

from typing import Final

from games.rules.option_checks import has_flip_deck
from games.rules.options import Options
from games.rules.rulebook_rule import Rule, RulePart, has_contests


def _catch_may_knock_out_on_turn(options: Options) -> bool:
    """Return True if a player on turn can be knocked out by a false catch, or with one card by being caught."""
    return options.mercy_limit > 0 and (
        options.false_catch_penalty > 0 or 1 + options.callout_penalty >= options.mercy_limit
    )


RACE_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "INT-1",
        "Interceptions",
        "Before or after the player on turn has drawn, any seat still in that is not on turn may play a card like "
        "the top card, if that is coloured. `exact`: the same colour and symbol. `super`: the same symbol in any "
        "colour. Wilds and buzzers neither intercept nor are intercepted. The first card turned up, a card of your "
        "own and a card that a Flip brought up can be intercepted. While a debt is running, only a card that "
        "answers it or passes it on intercepts (RESP-1, RESP-3), as if its player owed the debt.",
        "P, L",
        applies=lambda options: options.interceptions != "off",
    ),
    Rule(
        "INT-2",
        "Interceptions",
        "The player who intercepts is on turn at once. The player who was on turn loses it; a drawn card stays in "
        "that hand, and an open straight and the right to challenge are gone. Then the card is played as in a turn.",
        "P",
        applies=lambda options: options.interceptions != "off",
    ),
    Rule(
        "INT-3",
        "Interceptions",
        "After an interception with a number the same player has a whole turn more (a 0 or 7 acts first, with "
        "`zero_seven`). Any other card leads to the turn it always leads to.",
        "P, L",
        applies=lambda options: options.interceptions != "off",
    ),
    Rule(
        "INT-4",
        "Interceptions",
        "A miss is a play out of turn, where the top card could be intercepted, of a card in hand that is neither a "
        "step (RUN-2) nor an interception. If the player holds a card that would be one, the play is refused and "
        "costs nothing. If not, the player gets `interception_penalty` points, and nothing else changes. With the "
        "penalty 0 it is refused. Colour, target and `uno` of a miss are not looked at.",
        "P, L",
        applies=lambda options: options.interceptions != "off",
    ),
    Rule(
        "INT-5",
        "Interceptions",
        "A play that was sent for an earlier position is refused before anything is judged: nobody is fined for "
        "being too late.",
        "O",
        applies=lambda options: options.interceptions != "off",
    ),
    Rule(
        "BLUFF-1",
        "Bluff",
        "A Wild Draw Four, Wild Draw Two or Wild Draw Colour gives the player who then owes the right to challenge "
        "it, instead of taking or answering. A last card gives no right. The right ends when the challenged player "
        "leaves or is knocked out (the debt stays), and when a stack goes back to a player who went out.",
        "S, P",
        applies=lambda options: options.bluff != "off",
        parts=(
            RulePart("Wild Draw Four, Wild Draw Two or Wild Draw Colour", has_flip_deck, "Wild Draw Four"),
            RulePart("Wild Draw Four, ", lambda options: not has_flip_deck(options)),
            RulePart(", and when a stack goes back to a player who went out", has_contests),
        ),
    ),
    Rule(
        "BLUFF-2",
        "Bluff",
        "It was a bluff if the rest of its player's hand had, `official`: a card of the colour that was in force "
        "before (never, if there was none); `playroom`: a card of another symbol that could have been played "
        "before, by TURN-2 and TURN-8 (a buzzer counts). Debts are not considered.",
        "S; P",
        applies=lambda options: options.bluff != "off",
    ),
    Rule(
        "BLUFF-3",
        "Bluff",
        "Rightly challenged: the player who bluffed draws the whole debt, with `playroom` two cards more. If "
        "somebody went out on the debt, the first of them wins. Otherwise the challenger's turn goes on without a "
        "debt. The colour stays.",
        "S, P",
        applies=lambda options: options.bluff != "off",
    ),
    Rule(
        "BLUFF-4",
        "Bluff",
        "Wrongly challenged: the challenger draws the whole debt and two cards more, and loses the turn unless the "
        "option `skip_after_draw` is off.",
        "S, P",
        applies=lambda options: options.bluff != "off",
    ),
    Rule(
        "BLUFF-5",
        "Bluff",
        "A Wild Draw Colour that can be challenged is a debt of no number. Paying it is drawing until the colour "
        "named shows, and two cards more where BLUFF-3 or BLUFF-4 say so.",
        "S",
        applies=lambda options: options.bluff != "off" and has_flip_deck(options),
    ),
    Rule(
        "BLUFF-6",
        "Bluff",
        "Any other turn move of the player who owes gives the right up. Calls and catches do not. The clock never "
        "challenges. Only the verdict is told, no card.",
        "P",
        applies=lambda options: options.bluff != "off",
    ),
    Rule(
        "BUZZ-1",
        "Buzzers",
        "Eight buzzers are added to the deck. A buzzer has no colour, asks for none, may be played on anything "
        "unless a debt is running, and leaves no colour in force (TURN-8).",
        "P",
        applies=lambda options: options.buzzers != "off",
    ),
    Rule(
        "BUZZ-2",
        "Buzzers",
        "After a buzzer every seat still in may press once. When only one has not, that seat is the slowest. The "
        "clock ends the race: the slowest is then, of those that have not pressed, the last in the order of play "
        "counted from the buzzer's player, who is first. Until then only pressing, UNO calls, catches and leaving "
        "are accepted. A seat that leaves or is knocked out no longer counts. If it is the buzzer's player, the "
        "race is off, nobody draws, and the next player is on turn.",
        "P; limit O",
        applies=lambda options: options.buzzers == "race",
    ),
    Rule(
        "BUZZ-3",
        "Buzzers",
        "The slowest is found inside the play: it is the first of the seats still in, ascending, shuffled with the "
        "stream `b1` for the round's first buzzer, `b2` for the second, and so on.",
        "O",
        applies=lambda options: options.buzzers == "lottery",
    ),
    Rule(
        "BUZZ-4",
        "Buzzers",
        "The slowest draws two cards (MERCY-1). Then a buzzer's player who has no card has won; otherwise the next "
        "player is on turn.",
        "P; last card O",
        applies=lambda options: options.buzzers != "off",
    ),
    Rule(
        "ELIM-1",
        "Elimination",
        "The hand of a player who is out, or leaves, goes into the draw pile at once, also when the round ends with "
        "it: both are sorted and shuffled as the next reshuffle. An empty hand shuffles nothing.",
        "P; shuffling O",
        applies=lambda options: options.mercy_cards == "draw_pile",
    ),
    Rule(
        "ELIM-2",
        "Elimination",
        "Each player who is out in this round is worth `mercy_points`. With `mercy_card_points` the points of the "
        "hand at that moment are added to that seat's fines; a leaver's too.",
        "P",
    ),
    Rule(
        "ELIM-3",
        "Elimination",
        "A player knocked out by a catch in the own turn: debt, roulette, drawn card and turn are settled as "
        "LEAVE-1 says. The colours counted are those of the whole hand, the cards of the catch included.",
        "O",
        applies=_catch_may_knock_out_on_turn,
    ),
    Rule(
        "SCORE-4",
        "Elimination",
        "`scoring` winner: the winner gets the points of the hands of those still in, `mercy_points` for each "
        "player out, and the fines of all others. The winner's own cards never count. `penalty`: each loser still "
        "in gets the points of the own hand, each player who is out `mercy_points`, and everybody, the winner too, "
        "the own fines. Seats that left in an earlier round count nothing.",
        "S, P",
    ),
    Rule(
        "MATCH-1",
        "Match",
        "After `rounds` rounds, or once somebody has `target` points, whichever comes first, the match ends: the "
        "most points win with `scoring` winner, the fewest with penalty. A tie is decided by another round. With "
        "`target` 0 and `rounds` 0 or 1 a match is a single round, won by its winner.",
        "P",
    ),
    Rule(
        "FLIP-1",
        "Flip",
        "Only the faces of the side in force count: for matching, playing, effects, points and the text of moves. "
        "The light side begins.",
        "S",
        applies=has_flip_deck,
    ),
    Rule(
        "FLIP-2",
        "Flip",
        "A Flip matches by colour or symbol. Played, it lies on top; then the discard pile is turned over (its "
        "order too: the Flip is at the bottom), the draw pile likewise, and the other side is in force for every "
        "card. The colour of the new top card is in force, none if it is wild (TURN-8). That card has no effect. "
        "The next player is on turn.",
        "S; wild O",
        applies=has_flip_deck,
    ),
    Rule(
        "FLIP-3",
        "Flip",
        "A last Flip turns everything over, then the round is scored on the new side.",
        "O",
        applies=has_flip_deck,
    ),
    Rule(
        "FLIP-4",
        "Flip",
        "Of several cards with the same face a play takes the one whose text sorts first, or the drawn one after a "
        "draw.",
        "O",
        applies=has_flip_deck,
    ),
    Rule(
        "FLIP-5",
        "Flip",
        "Wild Draw Colour: its player names the colour, and the next player turns cards over until one of that "
        "colour shows (wilds never count).",
        "S",
        applies=has_flip_deck,
    ),
    Rule(
        "FLIP-6",
        "Flip",
        "Nobody sees the hidden face of a card of the own hand or of the piles. `flip_backs` seen, as at a real "
        "table: the players see the hidden faces of every other seat's hand, sorted, but not which of them belongs "
        "to which face in force; visitors and spectators see none. `flip_backs` hidden: nobody sees those either. "
        "Once the round is over everybody sees both faces of everything.",
        "S; hidden O",
        applies=has_flip_deck,
    ),
    Rule(
        "FLIP-7",
        "Flip",
        "Where CLOCK-1 counts colours, they are those of the side in force, ties in the order of DECK-2.",
        "O",
        applies=has_flip_deck,
    ),
)
