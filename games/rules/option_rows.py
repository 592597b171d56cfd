"""A row for each option of a table: its words, its values and its rule. Forms, pages, docs and the API use these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from common.say import ENGLISH, N_, Say
from games.rules.cards import DECKS


class OptionValue(NamedTuple):
    """A value of an option that is no number.

    ``label`` names it on forms. ``meaning`` says in a sentence how a table with this value is played.
    """

    value: bool | str
    label: str
    meaning: str


class OptionSpec(NamedTuple):
    """One field of ``Options``.

    ``group`` is its heading on forms. ``source`` is the rule that it changes. ``about`` says what a reader of its
    values needs to know besides, and may be empty.

    An option has ``choices``, or it is a number with ``ranges``, both ends included: one range, or 0 and one range.
    ``meaning`` then says in a sentence how a table is played, in its forms for 1 and for other numbers, and ``zero``
    says it for 0 if that is another sentence.

    ``earlier`` are pairs of a value of an earlier release and what it is read as.
    """

    name: str
    title: str
    group: str
    source: str
    about: str = ""
    choices: tuple[OptionValue, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    meaning: tuple[str, str] = ("", "")
    zero: str = ""
    earlier: tuple[tuple[bool, str], ...] = ()

    @property
    def type(self) -> type:
        """The type of its values: ``bool``, ``int`` or ``str``."""
        return type(self.choices[0].value) if self.choices else int

    @property
    def values(self) -> tuple[str, ...]:
        """The allowed texts. Empty for an option that is no text."""
        return tuple(choice.value for choice in self.choices if isinstance(choice.value, str))

    def label(self, value: object) -> str:
        """Return the name of a value on forms.

        :raises StopIteration: if the option has choices and this is none of them.
        """
        return next(choice.label for choice in self.choices if choice.value == value) if self.choices else str(value)

    def sentence(self, value: object, say: Say = ENGLISH) -> str:
        """Return a sentence that says how a table with this value is played.

        :raises StopIteration: as ``label``.
        """
        if self.choices:
            return say.text("option", next(choice.meaning for choice in self.choices if choice.value == value))
        if not value and self.zero:
            return say.text("option", self.zero)
        assert isinstance(value, int)
        return say.form("option", self.meaning, value)

    @property
    def help(self) -> str:
        """What each value does, with the values as the API names them."""
        return self._help([_typed(choice.value) for choice in self.choices])

    @property
    def help_in_words(self) -> str:
        """What each value does, with the values as forms name them."""
        return self._help([f"{choice.label[0].upper()}{choice.label[1:]}" for choice in self.choices])

    def _help(self, names: Sequence[str]) -> str:
        if self.choices:
            meanings = [f"{name}: {choice.meaning}" for name, choice in zip(names, self.choices, strict=True)]
        else:
            _, many = self.meaning
            meanings = [many.format(n="N"), *([f"0: {self.zero}"] if self.zero else [])]
        return " ".join(filter(None, (self.about, *meanings)))


def _typed(value: bool | str) -> str:
    return ("On" if value else "Off") if isinstance(value, bool) else value


def _switch(*, on: str, off: str) -> tuple[OptionValue, ...]:
    return OptionValue(True, "on", on), OptionValue(False, "off", off)


NO_LIMIT_WARNING: Final = "With a No Mercy deck and no mercy limit, hands may grow until the piles run short."
"""The warning of OPT-2."""
_ABOUT_THE_MERCY_LIMIT: Final = ("Must exceed the cards dealt to each, unless it is 0.", NO_LIMIT_WARNING)

_DECK: Final = "Deck and deal"
_DRAWING: Final = "Drawing"
_ANSWERS: Final = "Answers to draw cards"
_EFFECTS: Final = "Sevens, zeros and the roulette"
_OUT_OF_TURN: Final = "Straights and interceptions"
_BLUFF: Final = "Bluffs"
_BUZZERS: Final = "Buzzers"
_CALLS: Final = "UNO calls"
_OUT: Final = "Elimination"
_END: Final = "The last card and scoring"

OPTIONS: Final[tuple[OptionSpec, ...]] = (
    OptionSpec(
        "deck",
        "Deck",
        _DECK,
        "DECK-1",
        choices=tuple(OptionValue(name, deck.title, deck.meaning) for name, deck in DECKS.items()),
    ),
    OptionSpec(
        "flip_backs",
        "Hidden sides of the others’ cards",
        _DECK,
        "FLIP-6",
        about="For the Flip deck.",
        choices=(
            OptionValue("hidden", "hidden", "Nobody sees the hidden sides of cards."),
            OptionValue("seen", "seen", "Players see the hidden sides of all other hands, as at a real table."),
        ),
    ),
    OptionSpec(
        "first_discard",
        "The first discard",
        _DECK,
        "FIRST-1",
        about="With a No Mercy deck it must be a number card.",
        choices=(
            OptionValue("number", "number", "The discard pile starts with a number card, which has no effect."),
            OptionValue(
                "official",
                "official",
                "The discard pile may start with an action card, which acts on the first player.",
            ),
        ),
    ),
    OptionSpec(
        "hand_size",
        "Cards dealt to each",
        _DECK,
        "SETUP-2",
        ranges=((1, 15),),
        meaning=(
            N_("Each player is dealt {n} card."),
            N_("Each player is dealt {n} cards."),
        ),
    ),
    OptionSpec(
        "voluntary_draw",
        "Draw even if you can play",
        _DRAWING,
        "TURN-4",
        choices=_switch(
            on="You may draw even if you could play.", off="You may draw only if you have no playable card."
        ),
    ),
    OptionSpec(
        "draw_until_playable",
        "Draw until playable",
        _DRAWING,
        "TURN-4",
        choices=_switch(on="You draw until you draw a playable card.", off="You draw one card."),
    ),
    OptionSpec(
        "drawn_must_play",
        "A drawn card must be played",
        _DRAWING,
        "TURN-4",
        choices=_switch(
            on="You must play a playable card that you draw.",
            off="You may keep a playable card that you draw, and pass.",
        ),
    ),
    OptionSpec(
        "stacking",
        "Stacking",
        _ANSWERS,
        "RESP-1",
        about="Which draw cards may be played by a player who owes cards.",
        choices=(
            OptionValue("off", "off", "Draw cards cannot be stacked."),
            OptionValue("same", "the same card", "A draw card can be stacked on the same draw card, in any colour."),
            OptionValue(
                "family",
                "the same family",
                "A draw card can be stacked on one of equal or lower value, coloured on coloured and wild on wild.",
            ),
            OptionValue("any", "any", "A draw card can be stacked on any draw card of equal or lower value."),
        ),
        earlier=((True, "any"), (False, "off")),
    ),
    OptionSpec(
        "advanced_stacking",
        "Pass a debt on",
        _ANSWERS,
        "RESP-3",
        about="Needs stacking, and that the others may answer a draw card as the last card. In a No Mercy deck Discard"
        " All and Skip Everyone end a debt.",
        choices=_switch(
            on="Owed cards can also be passed on with a Skip, a Reverse or a plain Wild.",
            off="Owed cards cannot be passed on with a Skip, a Reverse or a Wild.",
        ),
    ),
    OptionSpec(
        "skip_after_draw",
        "Drawing a debt costs the turn",
        _ANSWERS,
        "PAY-2",
        choices=_switch(
            on="Drawing owed cards costs you the turn.", off="After drawing owed cards you have a turn as usual."
        ),
    ),
    OptionSpec(
        "zero_seven",
        "Sevens swap, zeros pass",
        _EFFECTS,
        "SEVEN-1",
        choices=_switch(on="A 7 swaps two hands, and a 0 passes every hand on.", off="7 and 0 are plain numbers."),
    ),
    OptionSpec(
        "roulette_color",
        "Who chooses the roulette’s colour",
        _EFFECTS,
        "ROUL-2",
        about="With the Flip deck it must be the player of the card.",
        choices=(
            OptionValue(
                "victim", "the player who must draw", "The player who must draw chooses the colour of a Color Roulette."
            ),
            OptionValue(
                "player",
                "the player of the card",
                "The player of a Color Roulette chooses its colour, and the next player draws at once.",
            ),
        ),
    ),
    OptionSpec(
        "straights",
        "Straights",
        _OUT_OF_TURN,
        "RUN-1",
        choices=_switch(
            on="You may play a straight: a number, then the next one up or down in its colour, and so on.",
            off="There are no straights.",
        ),
    ),
    OptionSpec(
        "interceptions",
        "Interceptions",
        _OUT_OF_TURN,
        "INT-1",
        choices=(
            OptionValue("off", "off", "Nobody can intercept a turn."),
            OptionValue(
                "exact",
                "same colour and kind",
                "With a card of the same colour and kind as the top card you may play out of turn, and take the turn.",
            ),
            OptionValue(
                "super",
                "same kind, any colour",
                "With a card of the same kind as the top card, in any colour, you may play out of turn, and take the"
                " turn.",
            ),
        ),
    ),
    OptionSpec(
        "interception_penalty",
        "Points for a miss",
        _OUT_OF_TURN,
        "INT-4",
        ranges=((0, 50),),
        meaning=(
            N_("At live tables a card played out of turn that does not fit costs you {n} point."),
            N_("At live tables a card played out of turn that does not fit costs you {n} points."),
        ),
        zero="A card played out of turn that does not fit is refused.",
    ),
    OptionSpec(
        "bluff",
        "Challenging a bluff",
        _BLUFF,
        "BLUFF-1",
        about="Not with a No Mercy deck.",
        choices=(
            OptionValue("off", "off", "A wild draw card cannot be challenged."),
            OptionValue(
                "official",
                "official",
                "You may challenge a wild draw card that makes you draw: it was a bluff if its player also held a card"
                " of the previous colour.",
            ),
            OptionValue(
                "playroom",
                "playroom",
                "You may challenge a wild draw card that makes you draw: it was a bluff if its player held any other"
                " playable card, and a bluffer draws two cards more.",
            ),
        ),
    ),
    OptionSpec(
        "buzzers",
        "Buzzers",
        _BUZZERS,
        "BUZZ-1",
        about="Not with the Flip deck. A race needs the pace Live.",
        choices=(
            OptionValue("off", "off", "The deck has no buzzers."),
            OptionValue(
                "race",
                "race",
                "Eight buzzers are added to the deck: everybody presses, and the slowest draws two cards.",
            ),
            OptionValue(
                "lottery",
                "lottery",
                "Eight buzzers are added to the deck: chance decides who draws two cards.",
            ),
        ),
    ),
    OptionSpec(
        "callout_penalty",
        "Cards for being caught",
        _CALLS,
        "UNO-2",
        ranges=((0, 10),),
        meaning=(
            N_("If you are caught without having called UNO, you draw {n} card."),
            N_("If you are caught without having called UNO, you draw {n} cards."),
        ),
        zero="Being caught without having called UNO costs nothing.",
    ),
    OptionSpec(
        "uno_window",
        "How long a missing call can be caught",
        _CALLS,
        "CALL-1",
        choices=(
            OptionValue("turn", "one turn", "A missing call can be caught until the next move of the player on turn."),
            OptionValue("open", "until the hand changes", "A missing call can be caught until that hand changes."),
        ),
    ),
    OptionSpec(
        "false_catch_penalty",
        "Cards for a false catch",
        _CALLS,
        "UNO-6",
        ranges=((0, 10),),
        meaning=(
            N_("If you catch a player who did not miss a call, you draw {n} card."),
            N_("If you catch a player who did not miss a call, you draw {n} cards."),
        ),
        zero="Catching a player who did not miss a call is refused and costs nothing.",
    ),
    OptionSpec(
        "uno_on_received_hand",
        "UNO for a received card",
        _CALLS,
        "UNO-4",
        choices=_switch(
            on="You must also call UNO if a 7 or a 0 leaves you with one card.",
            off="You need not call UNO if a 7 or a 0 leaves you with one card.",
        ),
    ),
    OptionSpec(
        "mercy_limit",
        "Mercy limit",
        _OUT,
        "MERCY-1",
        about=" ".join(_ABOUT_THE_MERCY_LIMIT),
        ranges=((0, 0), (10, 50)),
        meaning=(
            N_("A player who holds {n} card is out of the round."),
            N_("A player who holds {n} cards is out of the round."),
        ),
        zero="However many cards you hold, you stay in the round.",
    ),
    OptionSpec(
        "mercy_points",
        "Points for a player who is out",
        _OUT,
        "ELIM-2",
        ranges=((0, 1000),),
        meaning=(
            N_("Each player who is out of the round is worth {n} point."),
            N_("Each player who is out of the round is worth {n} points."),
        ),
        zero="A player who is out of the round is worth no points.",
    ),
    OptionSpec(
        "mercy_card_points",
        "Points for the cards of a player who is out",
        _OUT,
        "ELIM-2",
        choices=_switch(
            on="The points of the cards that a player holds when knocked out count too.",
            off="The points of the cards that a player holds when knocked out do not count.",
        ),
    ),
    OptionSpec(
        "mercy_cards",
        "The cards of a player who is out",
        _OUT,
        "ELIM-1",
        choices=(
            OptionValue(
                "set_aside",
                "set aside",
                "The cards of a player who is out come back at the next reshuffle.",
            ),
            OptionValue(
                "draw_pile",
                "into the draw pile",
                "The cards of a player who is out are shuffled into the draw pile at once.",
            ),
        ),
    ),
    OptionSpec(
        "last_draw_card",
        "A draw card as the last card",
        _END,
        "END-2",
        choices=(
            OptionValue(
                "contest",
                "the others may answer",
                "If your last card is a draw card, the others may answer it before you win.",
            ),
            OptionValue(
                "draw_then_win",
                "the next player draws",
                "If your last card is a draw card, the next player draws without an answer, and you win.",
            ),
            OptionValue(
                "win_now", "nobody draws", "If your last card is a draw card, you win at once and nobody draws."
            ),
        ),
    ),
    OptionSpec(
        "scoring",
        "Scoring",
        _END,
        "SCORE-3",
        choices=(
            OptionValue(
                "winner",
                "the most points win",
                "The winner of a round scores the cards of the others, and the most points win the match.",
            ),
            OptionValue(
                "penalty",
                "the fewest points win",
                "Each loser of a round scores their own cards, and the fewest points win the match.",
            ),
        ),
    ),
    OptionSpec(
        "target",
        "Points to play to",
        _END,
        "SCORE-3",
        ranges=((0, 5000),),
        meaning=(
            N_("The match ends when a player has {n} point."),
            N_("The match ends when a player has {n} points."),
        ),
        zero="No score ends the match.",
    ),
    OptionSpec(
        "rounds",
        "Rounds to play",
        _END,
        "MATCH-1",
        about="With 0, and 0 points to play to as well, a single round is played.",
        ranges=((0, 50),),
        meaning=(
            N_("The match ends after {n} round."),
            N_("The match ends after {n} rounds."),
        ),
        zero="No number of rounds ends the match.",
    ),
)
"""A row for every option, in the order of forms and docs. The rows of a group are together."""

SPECS: Final[dict[str, OptionSpec]] = {spec.name: spec for spec in OPTIONS}
"""The same rows, by name."""
