"""The options of a table, and the rows that forms, docs and the API are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final, NamedTuple

from games.rules.cards import DECKS
from games.rules.errors import BadInput
from games.rules.ruleset import Ruleset, ruleset
from games.rules.stacking import STACKING


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one table. ``OPTIONS`` says what each field means, and ``PRESETS`` has the usual values.

    ``rules`` and ``plays_out_of_turn`` are worked out from the options. The latter is True if a seat that is not on
    turn may ever play a card (RUN-2, INT-1).
    """

    # Records write their options in the order of the fields, so a new field comes last.

    deck: str
    voluntary_draw: bool
    draw_until_playable: bool
    drawn_must_play: bool
    stacking: str
    zero_seven: bool
    roulette_color: str
    last_draw_card: str
    uno_on_received_hand: bool
    callout_penalty: int
    false_catch_penalty: int
    mercy_limit: int
    hand_size: int
    scoring: str
    target: int
    buzzers: str
    first_discard: str
    advanced_stacking: bool
    skip_after_draw: bool
    straights: bool
    interceptions: str
    interception_penalty: int
    bluff: str
    uno_window: str
    mercy_points: int
    mercy_card_points: bool
    mercy_cards: str
    rounds: int
    flip_backs: str

    rules: Ruleset = field(init=False, repr=False, compare=False)
    plays_out_of_turn: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Fields, because a property is slower and the rules read these several times a move.
        rules = ruleset(
            self.deck,
            buzzers=self.buzzers,
            stacking=self.stacking,
            advanced_stacking=self.advanced_stacking,
            zero_seven=self.zero_seven,
            roulette_color=self.roulette_color,
            bluff=self.bluff,
        )
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "plays_out_of_turn", self.straights or self.interceptions != "off")

    @property
    def may_fine(self) -> bool:
        """Whether a seat may get penalty points within a round (INT-4, ELIM-2)."""
        return self.mercy_card_points or (self.interceptions != "off" and self.interception_penalty > 0)

    def may_hold_all_cards(self, players: int) -> bool:
        """Return True if the players' hands could hold all cards but the top card (STUCK-1)."""
        return not self.mercy_limit or players * (self.mercy_limit - 1) >= self.rules.deck.size - 1


class OptionSpec(NamedTuple):
    """One field of ``Options``.

    ``group`` is its heading on forms. ``help`` is its help text. ``source`` is the rule that it changes. ``values`` are
    the allowed texts, ``ranges`` the allowed ranges of a number, both ends included. ``conflicts`` is a sentence about
    other options, or empty. ``earlier`` are pairs of a value of an earlier release and what it is read as.
    """

    name: str
    title: str
    type: type
    group: str
    help: str
    source: str
    values: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    conflicts: str = ""
    earlier: tuple[tuple[bool, str], ...] = ()


_DRAWING: Final = "Cards and drawing"
_EFFECTS: Final = "Stacking, swapping, roulette"
_OUT_OF_TURN: Final = "Straights, interceptions, bluffs"
_UNO: Final = "UNO and mercy"
_END: Final = "The end of a round, and its points"

OPTIONS: Final[tuple[OptionSpec, ...]] = (
    OptionSpec(
        "deck",
        "Deck",
        str,
        _DRAWING,
        "Which deck is used.",
        "DECK-1",
        values=tuple(DECKS),
    ),
    OptionSpec(
        "buzzers",
        "Buzzers",
        str,
        _DRAWING,
        "Adds eight buzzers to the deck. off: none. race: everybody presses, and the slowest draws two cards; only at"
        " tables with the pace Live. lottery: who draws them is decided by chance.",
        "BUZZ-1",
        values=("off", "race", "lottery"),
        conflicts="The Flip deck has no buzzers.",
    ),
    OptionSpec(
        "first_discard",
        "The first discard",
        str,
        _DRAWING,
        "number: the discard pile starts with a number card. official: it starts with almost any card, which acts on"
        " the first player.",
        "FIRST-1",
        values=("number", "official"),
        conflicts="A No Mercy deck starts with a number card.",
    ),
    OptionSpec(
        "hand_size",
        "Cards dealt to each",
        int,
        _DRAWING,
        "How many cards each player is dealt.",
        "SETUP-2",
        ranges=((1, 15),),
        conflicts="hand_size must be below mercy_limit (unless that is 0).",
    ),
    OptionSpec(
        "voluntary_draw",
        "Draw at will",
        bool,
        _DRAWING,
        "On: you may draw even if you could play. Off: you may draw only if you have no playable card.",
        "TURN-4",
    ),
    OptionSpec(
        "draw_until_playable",
        "Draw until playable",
        bool,
        _DRAWING,
        "On: you draw until you draw a playable card. Off: you draw one card.",
        "TURN-4",
    ),
    OptionSpec(
        "drawn_must_play",
        "A drawn card must be played",
        bool,
        _DRAWING,
        "On: you must play a playable card that you draw. Off: you may keep it and pass.",
        "TURN-4",
    ),
    OptionSpec(
        "stacking",
        "Stacking",
        str,
        _EFFECTS,
        "Which draw cards answer a draw card. off: none, and the next player draws at once. same: the same draw card"
        " in any colour. family: one of equal or higher value, coloured on coloured and wild on wild. any: any of equal"
        " or higher value.",
        "RESP-1",
        values=tuple(STACKING),
        earlier=((True, "any"), (False, "off")),
    ),
    OptionSpec(
        "advanced_stacking",
        "Pass a debt on",
        bool,
        _EFFECTS,
        "On: you may also answer a draw card with a Skip, a Reverse or a plain Wild, which pass the debt on. In a No"
        " Mercy deck Discard All and Skip Everyone end it.",
        "RESP-3",
        conflicts="Needs stacking, and a draw card as the last card must be contest.",
    ),
    OptionSpec(
        "skip_after_draw",
        "Drawing a debt costs the turn",
        bool,
        _EFFECTS,
        "On: a player who has drawn owed cards, or cards for a roulette, loses the turn. Off: the player then has a"
        " turn as usual.",
        "PAY-2",
    ),
    OptionSpec(
        "zero_seven",
        "Sevens swap, zeros pass",
        bool,
        _EFFECTS,
        "On: a 7 swaps hands and a 0 passes them on. Off: 0 and 7 are plain numbers.",
        "SEVEN-1",
    ),
    OptionSpec(
        "roulette_color",
        "Who names the roulette's colour",
        str,
        _EFFECTS,
        "victim: the player who has to draw. player: the player of the card; the victim draws at once.",
        "ROUL-2",
        values=("victim", "player"),
        conflicts="The Flip deck needs player.",
    ),
    OptionSpec(
        "straights",
        "Straights",
        bool,
        _OUT_OF_TURN,
        "On: after playing a number you may go on with the next number up or down in its colour, until the next player"
        " moves.",
        "RUN-1",
    ),
    OptionSpec(
        "interceptions",
        "Interceptions",
        str,
        _OUT_OF_TURN,
        "Whether you may play out of turn. exact: a card of the same colour and kind as the top card. super: of the"
        " same kind in any colour. The turn is then yours.",
        "INT-1",
        values=("off", "exact", "super"),
    ),
    OptionSpec(
        "interception_penalty",
        "Points for a miss",
        int,
        _OUT_OF_TURN,
        "The points for playing a card out of turn that does not fit. 0: such a card is refused.",
        "INT-4",
        ranges=((0, 50),),
    ),
    OptionSpec(
        "bluff",
        "Challenging a bluff",
        str,
        _OUT_OF_TURN,
        "Whether the next player may challenge a wild draw card. official: it was a bluff if its player also held a"
        " card of the colour in force. playroom: if its player held any other playable card; a bluffer draws two cards"
        " more.",
        "BLUFF-1",
        values=("off", "official", "playroom"),
        conflicts="Not with a No Mercy deck.",
    ),
    OptionSpec(
        "callout_penalty",
        "Cards for being caught",
        int,
        _UNO,
        "How many cards you draw if you are caught without having called UNO.",
        "UNO-2",
        ranges=((0, 10),),
    ),
    OptionSpec(
        "uno_window",
        "How long a missing call can be caught",
        str,
        _UNO,
        "turn: until the next move of the player on turn. open: until the hand changes.",
        "CALL-1",
        values=("turn", "open"),
    ),
    OptionSpec(
        "false_catch_penalty",
        "Cards for a false catch",
        int,
        _UNO,
        "0: a false catch is refused. More: it is accepted, and the catcher draws that many cards.",
        "UNO-6",
        ranges=((0, 10),),
    ),
    OptionSpec(
        "uno_on_received_hand",
        "UNO for a received card",
        bool,
        _UNO,
        "On: if a 7 or a 0 leaves you with one card, you must call UNO. Off: you need not.",
        "UNO-4",
    ),
    OptionSpec(
        "mercy_limit",
        "Mercy limit",
        int,
        _UNO,
        "A player who holds this many cards is out of the round. 0: no limit.",
        "MERCY-1",
        ranges=((0, 0), (10, 50)),
        conflicts="mercy_limit must exceed hand_size (unless it is 0).",
    ),
    OptionSpec(
        "mercy_points",
        "Points for a player who is out",
        int,
        _UNO,
        "The points for each player who is out of the round.",
        "ELIM-2",
        ranges=((0, 1000),),
    ),
    OptionSpec(
        "mercy_card_points",
        "Points for the cards of a player who is out",
        bool,
        _UNO,
        "On: the cards that a player holds when knocked out count too.",
        "ELIM-2",
    ),
    OptionSpec(
        "mercy_cards",
        "The cards of a player who is out",
        str,
        _UNO,
        "set_aside: they come back at the next reshuffle. draw_pile: they are shuffled into the draw pile at once.",
        "ELIM-1",
        values=("set_aside", "draw_pile"),
    ),
    OptionSpec(
        "last_draw_card",
        "A draw card as the last card",
        str,
        _END,
        "contest: the others may stack first. draw_then_win: the next player draws the owed cards without stacking,"
        " and they score. win_now: the round ends and nobody draws.",
        "END-2",
        values=("contest", "draw_then_win", "win_now"),
    ),
    OptionSpec(
        "scoring",
        "Scoring",
        str,
        _END,
        "winner: the winner scores the cards of the others, and the most points win. penalty: each loser scores their"
        " own hand (250 if out), and the fewest points win when someone reaches the target.",
        "SCORE-3",
        values=("winner", "penalty"),
    ),
    OptionSpec(
        "target",
        "Points to play to",
        int,
        _END,
        "The score that ends the match. 0: no such score.",
        "SCORE-3",
        ranges=((0, 5000),),
    ),
    OptionSpec(
        "rounds",
        "Rounds to play",
        int,
        _END,
        "The match ends after so many rounds. 0: no such limit. With 0 points to play to as well: a single round.",
        "MATCH-1",
        ranges=((0, 50),),
    ),
    OptionSpec(
        "flip_backs",
        "Hidden sides of the others' cards",
        str,
        _END,
        "seen: players see the hidden sides of the others' hands, as at a real table. hidden: nobody does.",
        "FLIP-6",
        values=("hidden", "seen"),
        conflicts="seen needs the Flip deck.",
    ),
)
"""A row for every option, in the order of forms and docs. The rows of a group are together."""

_SPECS: Final = {spec.name: spec for spec in OPTIONS}


def _checked(name: str, value: object) -> object:
    spec = _SPECS.get(name)
    if spec is None:
        raise BadInput(f"There is no option {name!r}.")
    if isinstance(value, bool):
        value = dict(spec.earlier).get(value, value)
    if type(value) is not spec.type:
        wanted = {bool: "true or false", int: "a whole number", str: "a text"}[spec.type]
        raise BadInput(f"The option {name} must be {wanted}.")
    if spec.values and value not in spec.values:
        raise BadInput(f"The option {name} must be one of {', '.join(spec.values)}.")
    if isinstance(value, int) and spec.ranges and not any(low <= value <= high for low, high in spec.ranges):
        wanted = " or ".join(str(low) if low == high else f"{low} to {high}" for low, high in spec.ranges)
        raise BadInput(f"The option {name} must be {wanted}.")
    return value


def _has_no_mercy_deck(options: Options) -> bool:
    return options.deck in ("nomercy168", "nomercy172")


def _has_two_sides(options: Options) -> bool:
    return len(DECKS[options.deck].sides) > 1


_CONFLICTS: Final[tuple[tuple[Callable[[Options], bool], str], ...]] = (
    (lambda o: 0 < o.mercy_limit <= o.hand_size, "The option mercy_limit must exceed hand_size."),
    (
        lambda o: o.advanced_stacking and (o.stacking == "off" or o.last_draw_card != "contest"),
        "The option advanced_stacking needs stacking other than off, and last_draw_card contest.",
    ),
    (
        lambda o: o.bluff != "off" and _has_no_mercy_deck(o),
        "The option bluff must be off with a No Mercy deck.",
    ),
    (
        lambda o: o.first_discard == "official" and _has_no_mercy_deck(o),
        "The option first_discard must be number with a No Mercy deck.",
    ),
    (lambda o: o.buzzers != "off" and _has_two_sides(o), "The option buzzers must be off with the deck flip112."),
    (
        lambda o: o.roulette_color != "player" and _has_two_sides(o),
        "The option roulette_color must be player with the deck flip112.",
    ),
    (
        lambda o: o.flip_backs != "hidden" and not _has_two_sides(o),
        "The option flip_backs must be hidden without the deck flip112.",
    ),
)
"""Pairs of a test for options that do not go together, and the sentence that refuses them (OPT-1)."""

SPARE_CARDS: Final = 20
"""At least so many cards must be left after a deal (OPT-1)."""


def with_overrides(base: Options, overrides: Mapping[str, object]) -> Options:
    """Return ``base`` with some options changed.

    :raises BadInput: if an option is unknown, a value is not allowed, or options conflict (OPT-1).
    """
    values: dict[str, object] = {name: _checked(name, value) for name, value in overrides.items()}
    options = replace(base, **values)  # type: ignore[arg-type]  # every value was checked against its row
    for conflict, message in _CONFLICTS:
        if conflict(options):
            raise BadInput(message)
    return options


def check_players(options: Options, players: int) -> None:
    """Check that a deck has enough cards for a number of players.

    :raises BadInput: if it has not (OPT-1).
    """
    if options.hand_size * players + SPARE_CARDS > options.rules.deck.size:
        raise BadInput(
            f"The deck has too few cards for {players} players with {options.hand_size} cards each: at least"
            f" {SPARE_CARDS} must be left."
        )


def difference(base: Options, options: Options) -> dict[str, object]:
    """Return the values of ``options`` that differ from ``base``, by name, in the order of the fields."""
    names = [option.name for option in fields(Options) if option.init]
    return {name: getattr(options, name) for name in names if getattr(options, name) != getattr(base, name)}


def options_dict(options: Options) -> dict[str, bool | int | str]:
    """Return the value of every option by name, in the order of ``OPTIONS``."""
    return {spec.name: getattr(options, spec.name) for spec in OPTIONS}
