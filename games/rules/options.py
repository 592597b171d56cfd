"""The options of a table, and the rows that forms, docs and the API are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final, NamedTuple

from games.rules.cards import DECKS
from games.rules.errors import BadInput
from games.rules.ruleset import Ruleset, ruleset


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one table. ``OPTIONS`` says what each field means, and ``PRESETS`` has the usual values.

    ``rules`` is worked out from the options.
    """

    # Records write their options in the order of the fields, so a new field comes last.

    deck: str
    voluntary_draw: bool
    draw_until_playable: bool
    drawn_must_play: bool
    stacking: bool
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

    rules: Ruleset = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A field, because a cached property is slower and the rules read this several times a move.
        rules = ruleset(
            self.deck,
            stacking=self.stacking,
            zero_seven=self.zero_seven,
            roulette_color=self.roulette_color,
        )
        object.__setattr__(self, "rules", rules)


class OptionSpec(NamedTuple):
    """One field of ``Options``.

    ``group`` is its heading on forms. ``help`` is its help text. ``source`` is the rule that it changes. ``values`` are
    the allowed texts, ``ranges`` the allowed ranges of a number, both ends included. ``conflicts`` is a sentence about
    other options, or empty.
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


_DRAWING: Final = "Cards and drawing"
_EFFECTS: Final = "Stacking, swapping, roulette"
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
        bool,
        _EFFECTS,
        "On: you may answer a draw card with a draw card. Off: the next player draws at once.",
        "STACK-1",
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
        "The score that ends the match. 0: a single round.",
        "SCORE-3",
        ranges=((0, 5000),),
    ),
)
"""A row for every option, in the order of forms and docs. The rows of a group are together."""

_SPECS: Final = {spec.name: spec for spec in OPTIONS}


def _checked(name: str, value: object) -> object:
    spec = _SPECS.get(name)
    if spec is None:
        raise BadInput(f"There is no option {name!r}.")
    if type(value) is not spec.type:
        wanted = {bool: "true or false", int: "a whole number", str: "a text"}[spec.type]
        raise BadInput(f"The option {name} must be {wanted}.")
    if spec.values and value not in spec.values:
        raise BadInput(f"The option {name} must be one of {', '.join(spec.values)}.")
    if isinstance(value, int) and spec.ranges and not any(low <= value <= high for low, high in spec.ranges):
        wanted = " or ".join(str(low) if low == high else f"{low} to {high}" for low, high in spec.ranges)
        raise BadInput(f"The option {name} must be {wanted}.")
    return value


def with_overrides(base: Options, overrides: Mapping[str, object]) -> Options:
    """Return ``base`` with some options changed.

    :raises BadInput: if an option is unknown, a value is not allowed, or options conflict.
    """
    values: dict[str, object] = {name: _checked(name, value) for name, value in overrides.items()}
    options = replace(base, **values)  # type: ignore[arg-type]  # every value was checked against its row
    if options.mercy_limit and options.mercy_limit <= options.hand_size:
        raise BadInput("The option mercy_limit must exceed hand_size.")
    return options


def difference(base: Options, options: Options) -> dict[str, object]:
    """Return the values of ``options`` that differ from ``base``, by name, in the order of the fields."""
    names = [option.name for option in fields(Options) if option.init]
    return {name: getattr(options, name) for name in names if getattr(options, name) != getattr(base, name)}


def options_dict(options: Options) -> dict[str, bool | int | str]:
    """Return the value of every option by name, in the order of ``OPTIONS``."""
    return {spec.name: getattr(options, spec.name) for spec in OPTIONS}
