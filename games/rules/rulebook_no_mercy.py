"""The numbered rules of the preset `no-mercy`. The rules of variants continue them."""

from __future__ import annotations

from typing import Final

from games.rules.option_checks import has_flip_deck, has_no_mercy_deck
from games.rules.options import Options
from games.rules.rulebook_rule import (
    Rule,
    RulePart,
    can_be_knocked_out,
    for_no_table,
    has_contests,
    has_debts,
    has_set_aside_hands,
    has_sevens,
    has_stacking,
    may_answer_with_any,
)


def _victim_names_color(options: Options) -> bool:
    return has_no_mercy_deck(options) and options.roulette_color == "victim"


_UNTIL_PLAYABLE: Final = " at a time until you draw one that can be played, and that card must be played"
_DRAW_CARDS: Final = "Draw Two, Draw Four, Wild Draw Six, Wild Draw Ten"
_WITHOUT_EFFECT: Final = "Skip, Reverse, Skip Everyone or Color Roulette"
_CONTEST: Final = (
    "If the last card is a draw card, the others may stack first. If the stack is taken by another player (or knocks "
    "one out), the player who went out wins, and the cards taken count for SCORE-1. If the stack comes back to a "
    "player who went out, that player draws it at once, without a move and without stacking (MERCY-1 applies), is no "
    "longer one who went out, and loses the turn; the round goes on. That draw is no turn: it closes no UNO window."
)
_NO_TARGET: Final = "a last 7 names no target"
_NO_COLOR: Final = "a last roulette no colour"

NO_MERCY_RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "TERM-1",
        "Words",
        "*Out*: knocked out (MERCY-1) or left (LEAVE-1). *Still in*: not out. *Went out*: played the last card on a "
        "stack that is still running (END-2): still in, counted by TWO-1 and END-4, the next player like any other, "
        "may catch, but has no turn move. *Next player*: the next still in, in the direction of play.",
        "O",
        parts=(
            RulePart("knocked out (MERCY-1) or ", can_be_knocked_out),
            RulePart(
                " *Went out*: played the last card on a stack that is still running (END-2): still in, counted by "
                "TWO-1 and END-4, the next player like any other, may catch, but has no turn move.",
                has_contests,
            ),
        ),
    ),
    Rule(
        "SEE-1",
        "Words",
        "Seen by all: counts of hands and piles, the whole discard pile (cards shed or turned up included), cards "
        "turned over by a roulette (in the log), calls, catches, scores, the table's options. Secret: hands, cards "
        "drawn otherwise (a card found by drawing, until it is played), the order of the draw pile, set-aside hands, "
        "hands exchanged by 7 and 0 (their new holder sees them). Once the round is over: everything.",
        "S (roulette), O",
        parts=(
            RulePart("by a roulette", lambda options: not has_flip_deck(options), "for a Wild Draw Colour"),
            RulePart(", cards turned over by a roulette (in the log)", has_no_mercy_deck),
            RulePart(", set-aside hands", has_set_aside_hands),
            RulePart(", hands exchanged by 7 and 0 (their new holder sees them)", has_sevens),
        ),
    ),
    Rule(
        "DECK-1",
        "Deck and setup",
        "168 cards. In each of red, yellow, green, blue: two each of 0-9 (20), 3 Discard All, 3 Draw Two, 2 Draw "
        "Four, 3 Reverse, 3 Skip, 2 Skip Everyone (36 a colour). Wild: 8 Color Roulette, 4 Draw Six, 4 Draw Ten, 8 "
        "Reverse Draw Four (24).",
        "total S, kinds G",
        applies=lambda options: options.deck == "nomercy168",
    ),
    Rule(
        "SETUP-1",
        "Deck and setup",
        "2 to 6 players. (Tables of the other presets: 2 to 10.)",
        "S",
        parts=(
            RulePart(
                "2 to 6 players. (Tables of the other presets: 2 to 10.)",
                for_no_table,
                "At least 2 players, at most {players}.",
            ),
        ),
    ),
    Rule(
        "SETUP-2",
        "Deck and setup",
        "Seven cards to each player, one at a time, starting left of the dealer. The rest is the draw pile.",
        "S, order O",
    ),
    Rule(
        "SETUP-3",
        "Deck and setup",
        "Turn cards over onto the discard pile until a number card shows. Action cards turned over have no effect "
        "and stay in the discard pile beneath it. A starting 0 or 7 has no effect.",
        "S; effect and place O",
        applies=lambda options: options.first_discard == "number",
    ),
    Rule(
        "SETUP-4",
        "Deck and setup",
        "The player left of the dealer starts; play runs clockwise (to the left).",
        "S",
    ),
    Rule(
        "SETUP-5",
        "Deck and setup",
        "The first dealer is drawn at random; the deal moves each round to the next player still in the match.",
        "O",
    ),
    Rule(
        "TURN-1",
        "A turn",
        "On your turn you play exactly one card, or you draw; if you owe cards, STACK-3; if a roulette is aimed at "
        "you, ROUL-1.",
        "S",
        parts=(
            RulePart("; if you owe cards, STACK-3", has_debts),
            RulePart("; if a roulette is aimed at you, ROUL-1", _victim_names_color),
        ),
    ),
    Rule(
        "TURN-2",
        "A turn",
        "A card may be played if it matches the top of the discard pile in colour (the active colour), number or "
        "symbol. A wild may be played on anything. There is no challenge (unless the option `bluff` is on) and no "
        '"only if you have nothing else".',
        "S; no challenge G",
        parts=(
            RulePart("challenge (unless the option `bluff` is on) and no ", lambda options: options.bluff == "off"),
        ),
    ),
    Rule(
        "TURN-3",
        "A turn",
        "Same symbol means same kind of card: Draw Four on Draw Four, Draw Two on Draw Two. The coloured Draw Four "
        "and Wild Reverse Draw Four are different symbols.",
        "G",
        applies=has_no_mercy_deck,
    ),
    Rule(
        "TURN-4",
        "A turn",
        "If you cannot play, or choose not to, you draw one card at a time until you draw one that can be played, "
        "and that card must be played. Cards you held before may not be *played* this turn; a Discard All so found "
        "still sheds them and may win. Choices that the drawn card needs (colour, swap target, calling UNO) are "
        "yours.",
        "S; choosing not to, and held cards: G (option `voluntary_draw`)",
        parts=(
            RulePart(_UNTIL_PLAYABLE, lambda options: options.draw_until_playable or options.drawn_must_play),
            RulePart("swap target, ", has_sevens),
            RulePart("; a Discard All so found still sheds them and may win", has_no_mercy_deck),
        ),
    ),
    Rule(
        "TURN-5",
        "A turn",
        "When the draw pile is empty and a card is needed, in mid-draw, by a catch or in a roulette too: all of the "
        "discard pile but its top card, with all hands set aside (MERCY-2, LEAVE-1), is shuffled into a new draw "
        "pile. Cards already drawn in this move stay drawn.",
        "S; but its top card O",
        parts=(
            RulePart(" or in a roulette", has_no_mercy_deck),
            RulePart(", with all hands set aside (MERCY-2, LEAVE-1),", has_set_aside_hands),
            RulePart("MERCY-2, ", can_be_knocked_out),
        ),
    ),
    Rule(
        "TURN-6",
        "A turn",
        "If no card is left anywhere, the draw stops, what is still owed is forgiven, and the turn passes as if "
        "drawn; a roulette's colour stays named.",
        "O. With 2-6 players and MERCY-1 a whole game never reaches this; short positions in the console do",
        parts=(RulePart("; a roulette's colour stays named", has_no_mercy_deck),),
    ),
    Rule(
        "TURN-7",
        "A turn",
        "A coloured card sets the active colour to its own; a wild sets it to the colour its player names (Color "
        "Roulette: ROUL-2).",
        "S, G",
        parts=(RulePart(" (Color Roulette: ROUL-2)", has_no_mercy_deck),),
    ),
    Rule(
        "NUM-1",
        "Cards",
        "1-6, 8, 9: no effect.",
        "S",
        parts=(
            RulePart("1-6, 8, 9", lambda options: options.zero_seven or not has_flip_deck(options), "1-9"),
            RulePart("1-6, 8, 9", has_sevens, "0-9"),
        ),
    ),
    Rule(
        "SEVEN-1",
        "Cards",
        "7: swap hands with another player of your choice who is still in. Not optional.",
        "S",
        applies=has_sevens,
    ),
    Rule(
        "ZERO-1",
        "Cards",
        "0: every player still in passes the whole hand to the next player in the direction of play.",
        "S",
        applies=has_sevens,
    ),
    Rule(
        "SKIP-1",
        "Cards",
        "Skip: the next player loses the turn. Nothing in hand answers a Skip. With two players left you play again.",
        "S, G; two left O",
    ),
    Rule(
        "REV-1",
        "Cards",
        "Reverse: the direction turns. With two players left it turns too, and the other player is skipped: you play "
        "again.",
        "S",
    ),
    Rule(
        "ALL-1",
        "Cards",
        "Skip Everyone: you take another turn (with all of TURN-1 to TURN-4).",
        "S",
        applies=lambda options: has_no_mercy_deck(options) or has_flip_deck(options),
    ),
    Rule(
        "DISC-1",
        "Cards",
        "Discard All: every other card of its colour in your hand goes to the discard pile beneath it, without "
        "effect. Mandatory, all of them. It matches by colour or on another Discard All.",
        "S, G",
        applies=has_no_mercy_deck,
    ),
    Rule(
        "DRAW-1",
        "Cards",
        "Draw Two, Draw Four, Wild Draw Six, Wild Draw Ten: the next player owes that many cards, and loses the turn "
        "after taking them (unless STACK-1).",
        "S",
        parts=(
            RulePart(_DRAW_CARDS, lambda options: options.deck != "classic108", "Draw Two, Wild Draw Four"),
            RulePart(_DRAW_CARDS, lambda options: not has_flip_deck(options), "Draw One, Draw Five, Wild Draw Two"),
            RulePart(", and loses the turn after taking them", lambda options: options.skip_after_draw),
            RulePart(" (unless STACK-1)", has_stacking),
            RulePart("STACK-1", may_answer_with_any, "RESP-1"),
        ),
    ),
    Rule(
        "WR4-1",
        "Cards",
        "Wild Reverse Draw Four: the direction turns first; then the next player in the new direction owes four.",
        "S",
        applies=has_no_mercy_deck,
    ),
    Rule(
        "WR4-2",
        "Cards",
        "With two players left the direction turns all the same, the other player is skipped and the card's own "
        "player owes the cards, the whole stack included; that player may stack on it at once (any draw card of 4 or "
        "more). After taking them the other player is next. Another Wild Reverse Draw Four still aims at its own "
        "player.",
        "S; whole stack O; another one G",
        applies=has_no_mercy_deck,
    ),
    Rule(
        "ROUL-1",
        "Cards",
        "Wild Color Roulette: the next player names a colour, then turns cards face up one at a time, seen by all, "
        "until one of that colour shows (wilds never count); each is in the hand at once (MERCY-1). The card found "
        "is not played and the turn is lost. Nothing answers it.",
        "S; nothing answers O",
        applies=has_no_mercy_deck,
    ),
    Rule(
        "ROUL-2",
        "Cards",
        "The colour so named becomes the active colour, also when that player is knocked out or leaves. (Option "
        "`roulette_color`.)",
        "G. Its card section says the player of the card names it; its FAQ and S say the victim, as we do",
        applies=has_no_mercy_deck,
    ),
    Rule(
        "TWO-1",
        "Cards",
        '"Two players left" counts players still in, not seats; one who went out counts.',
        "G, O",
        parts=(RulePart("; one who went out counts", has_contests),),
    ),
    Rule(
        "STACK-1",
        "Owed cards",
        "A player who owes cards may instead play a draw card whose value is equal to or higher than the last draw "
        "card played (not the total). Values: Draw Two 2; Draw Four and Wild Reverse Draw Four 4; Draw Six 6; Draw "
        "Ten 10. Colour is ignored.",
        "S; colour G",
        applies=lambda options: options.stacking == "any",
    ),
    Rule(
        "STACK-2",
        "Owed cards",
        "The values add up and the next player (WR4-1, WR4-2) owes the total.",
        "S",
        applies=has_stacking,
        parts=(RulePart(" (WR4-1, WR4-2)", has_no_mercy_deck),),
    ),
    Rule(
        "STACK-3",
        "Owed cards",
        "Stacking is optional. While cards are owed no other turn move is legal but STACK-1 or taking them (UNO "
        "calls and catches always are).",
        "S",
        applies=has_debts,
        parts=(
            RulePart("Stacking is optional. ", has_stacking),
            RulePart(
                " or taking",
                lambda options: options.bluff == "off" or not has_stacking(options),
                ", a challenge (BLUFF-1) or taking",
            ),
            RulePart("STACK-1", lambda options: not options.advanced_stacking, "STACK-1, RESP-3"),
            RulePart("STACK-1", has_stacking, "a challenge (BLUFF-1)"),
            RulePart("STACK-1", may_answer_with_any, "an answer (RESP-1)"),
        ),
    ),
    Rule(
        "STACK-4",
        "Owed cards",
        "Who takes the total loses the turn. The stack is gone; the next player follows TURN-2 on the last card "
        "played and its (or its player's) colour.",
        "S; colour G",
        applies=lambda options: options.skip_after_draw,
        parts=(
            RulePart("the total", has_stacking, "owed cards"),
            RulePart("The stack is gone; the next player", has_stacking, "The next player"),
        ),
    ),
    Rule(
        "UNO-1",
        "UNO",
        "A player whose hand is one card after a play, swap and pass included, must call UNO: with the play itself "
        "or afterwards, until caught or until the window closes (UNO-3). A hand that was one card before (draw, then "
        "play) owes a new call.",
        "S",
        parts=(
            RulePart(", swap and pass included,", has_sevens),
            RulePart("UNO-3", lambda options: options.uno_window == "turn", "CALL-1"),
        ),
    ),
    Rule(
        "UNO-2",
        "UNO",
        "Any other player still in, in any phase but `over`, may catch a player whose window is open: two cards, "
        "drawn at once; the turn does not move.",
        "S",
    ),
    Rule(
        "UNO-3",
        "UNO",
        "All open windows close at the next accepted play, draw, take or colour of the player on turn, also when "
        "that is the same player's further turn. Refused moves, calls, catches, leaving and the draw of END-2 close "
        "nothing. A window also closes when the table's callout time runs out (CLOCK-2).",
        "S; what begins a turn, the further turn, the clock: O",
        applies=lambda options: options.uno_window == "turn",
    ),
    Rule(
        "UNO-4",
        "UNO",
        'A hand of one card received by SEVEN-1 or ZERO-1 owes a call too ("the moment you only have 1 card"). A '
        "call made with the play counts for the hand its player holds at the end of it, never for another's; a call "
        "made for an earlier hand does not carry over. (Option `uno_on_received_hand`.)",
        "S; carry-over O",
        parts=(
            RulePart(
                "A hand of one card received by SEVEN-1 or ZERO-1 owes a call too "
                '("the moment you only have 1 card"). ',
                has_sevens,
            ),
            RulePart(" (Option `uno_on_received_hand`.)", has_sevens),
        ),
    ),
    Rule(
        "UNO-5",
        "UNO",
        "No call is owed for going from two or more cards to none (Discard All).",
        "G",
        applies=has_no_mercy_deck,
    ),
    Rule(
        "UNO-6",
        "UNO",
        "A catch with nobody to catch, or a late call with nothing owed, is refused and costs nothing. A call said "
        "with a play that does not leave one card is ignored. (Option `false_catch_penalty`.)",
        "O",
    ),
    Rule(
        "MERCY-1",
        "Players who are out",
        "The moment a hand holds 25 cards, its player is out. It is checked after every single card drawn (by a "
        "catch too), so the rest of a penalty, of a roulette or of a draw is not drawn, even if the 25th card could "
        "be played. The turn moves on only if it was that player's; END-4 is tested.",
        "S; moment O",
        applies=can_be_knocked_out,
    ),
    Rule(
        "MERCY-2",
        "Players who are out",
        "The hand is set aside and comes back at the next reshuffle (TURN-5).",
        "S",
        applies=lambda options: can_be_knocked_out(options) and has_set_aside_hands(options),
    ),
    Rule(
        "MERCY-3",
        "Players who are out",
        "A player who is out takes no turns, receives no cards, is no swap target and is not in the chain of a 0. "
        "Out lasts to the end of the round; all but those who left are in the next deal.",
        "S, O",
        parts=(
            RulePart(
                ", receives no cards, is no swap target and is not in the chain of a 0",
                has_sevens,
                " and receives no cards",
            ),
            RulePart(
                " Out lasts to the end of the round; all but those who left are in the next deal.", can_be_knocked_out
            ),
        ),
    ),
    Rule(
        "END-1",
        "End of a round",
        "A player who plays the last card wins the round at once. A last 7, 0, Skip, Reverse, Skip Everyone or Color "
        "Roulette has no effect (a last 7 names no target, a last roulette no colour).",
        "S; 7 and 0 D",
        parts=(
            RulePart("7, 0, ", has_sevens),
            RulePart(_WITHOUT_EFFECT, lambda options: options.deck != "classic108", "Skip or Reverse"),
            RulePart(_WITHOUT_EFFECT, lambda options: not has_flip_deck(options), "Skip, Reverse or Skip Everyone"),
            RulePart(
                f" ({_NO_TARGET}, {_NO_COLOR})", lambda options: has_sevens(options) or has_no_mercy_deck(options)
            ),
            RulePart(f"{_NO_TARGET}, {_NO_COLOR}", has_sevens, "a last roulette names no colour"),
            RulePart(f", {_NO_COLOR}", has_no_mercy_deck),
        ),
    ),
    Rule(
        "END-2",
        "End of a round",
        f"{_CONTEST} (Option `last_draw_card`.)",
        "D. S alone reads: the last card wins",
        parts=(RulePart(_CONTEST, has_contests, "A draw card may be the last card."),),
    ),
    Rule(
        "END-3",
        "End of a round",
        "If several players went out on one stack, the first of them that has not had to draw wins. With two players "
        "left a last Wild Reverse Draw Four comes back at once (WR4-2).",
        "O",
        applies=has_contests,
        parts=(
            RulePart(
                " With two players left a last Wild Reverse Draw Four comes back at once (WR4-2).", has_no_mercy_deck
            ),
        ),
    ),
    Rule(
        "END-4",
        "End of a round",
        "If all but one are out, the last one wins.",
        "S",
    ),
    Rule(
        "SCORE-1",
        "Score and match",
        "The winner of a round scores the cards left in the hands of players still in: numbers at face value, "
        "coloured action cards 20, wilds 50.",
        "S",
    ),
    Rule(
        "SCORE-2",
        "Score and match",
        "Plus 250 for every player out in the round, no matter who caused it; their cards score nothing.",
        "S; who caused it O",
    ),
    Rule(
        "SCORE-3",
        "Score and match",
        "The first to reach 1,000 wins the match. A table may also play a single round. (Playing for the fewest points "
        "is the option `scoring`.)",
        'S. One copy of the sheet ends "the player with the lowest points is the winner": an error against S and G',
        parts=(RulePart("1,000", lambda options: options.target == 1000, "the points to play to"),),
    ),
    Rule(
        "CLOCK-1",
        "Clocks and leaving",
        "Each turn (and each choice owed) has a deadline set by the table. When it passes, the clock acts for the "
        "player: owed cards are taken; a roulette colour is the one most held; otherwise the player draws and the "
        "card found is played, in one act at one deadline (a card already drawn is played), with the colour most "
        "held and the swap target with the fewest cards. Colours are counted without the card being played; ties, or "
        "none held: the first of r, y, g, b; fewest cards: ties to the nearest in the direction of play. The clock "
        "may draw also where `voluntary_draw` is off. It never calls UNO: that can still be caught.",
        "O",
        parts=(
            RulePart(" a roulette colour is the one most held;", _victim_names_color),
            RulePart(" and the swap target with the fewest cards", has_sevens),
            RulePart("; fewest cards: ties to the nearest in the direction of play", has_sevens),
        ),
    ),
    Rule(
        "CLOCK-2",
        "Clocks and leaving",
        "Each callout window has a time of its own; when it passes, that hand can no longer be caught.",
        "O",
    ),
    Rule(
        "CLOCK-3",
        "Clocks and leaving",
        "A player whose clock has acted N turns in a row (table option, default 3) leaves the game (LEAVE-1) or has "
        "a bot take the seat, as the table says: the N-th default move is made first; if the round still runs it "
        "follows at once, else before the next deal. Any own accepted move, a call or a catch too, resets the count; "
        "a draw and its play count once.",
        "O",
    ),
    Rule(
        "LEAVE-1",
        "Clocks and leaving",
        "A player still in may leave at any time (resigns, is removed by staff or by CLOCK-3) and is out to the end "
        "of the match; the hand, a drawn card included, is set aside. Only if it was that player's turn does more "
        "change: a stack owed by that player is gone undrawn (if someone went out on it, END-3 names the winner "
        "now); an owed roulette colour is named as in CLOCK-1 and nothing is drawn; the turn goes to the next "
        "player. A leaver who went out no longer counts as such. One player left in: END-4. UNO windows of others "
        "stay. SCORE-2 counts the leaver in this round only. If one player is left in the match, that player wins "
        "it. A table may instead hand the seat to a bot, who is then that player: nobody is out.",
        "O",
        parts=(
            RulePart("a stack owed", has_stacking, "a debt owed"),
            RulePart(" (if someone went out on it, END-3 names the winner now)", has_contests),
            RulePart(" an owed roulette colour is named as in CLOCK-1 and nothing is drawn;", _victim_names_color),
            RulePart(" A leaver who went out no longer counts as such.", has_contests),
        ),
    ),
)
