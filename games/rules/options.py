"""Every choice a table can make: one frozen options object and the table that forms, docs and the API are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final, NamedTuple

from games.rules.cards import DECKS
from games.rules.errors import BadInput


@dataclass(frozen=True, slots=True)
class Options:
    """The rules of one table; the defaults are the preset ``no-mercy``. ``OPTIONS`` says what each field means."""

    deck: str = "nomercy168"
    voluntary_draw: bool = True
    draw_until_playable: bool = True
    drawn_must_play: bool = True
    stacking: bool = True
    zero_seven: bool = True
    roulette_color: str = "victim"
    last_draw_card: str = "contest"
    uno_on_received_hand: bool = True
    callout_penalty: int = 2
    false_catch_penalty: int = 0
    mercy_limit: int = 25
    hand_size: int = 7
    scoring: str = "winner"
    target: int = 1000


class OptionSpec(NamedTuple):
    """A row about one field of ``Options``.

    ``values`` lists the choices of a text; ``ranges`` the allowed inclusive ranges of a number; ``conflicts`` is a
    sentence about other options, or empty; ``source`` is the rule that the option switches.
    """

    name: str
    title: str
    type: type
    default: bool | int | str
    help: str
    source: str
    values: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    conflicts: str = ""


OPTIONS: Final[tuple[OptionSpec, ...]] = (
    OptionSpec(
        "deck",
        "Deck",
        str,
        "nomercy168",
        "Which box of cards is played with.",
        "DECK-1",
        values=tuple(DECKS),
    ),
    OptionSpec(
        "voluntary_draw",
        "Draw at will",
        bool,
        True,
        "On: you may draw although you could play. Off: draw only when nothing can be played.",
        "TURN-4",
    ),
    OptionSpec(
        "draw_until_playable",
        "Draw until playable",
        bool,
        True,
        "On: who draws goes on until a card can be played. Off: one card is drawn.",
        "TURN-4",
    ),
    OptionSpec(
        "drawn_must_play",
        "A drawn card must be played",
        bool,
        True,
        "On: a playable card found by drawing must be played. Off: it may be kept, and the turn passes.",
        "TURN-4",
    ),
    OptionSpec(
        "stacking",
        "Stacking",
        bool,
        True,
        "On: draw cards may be answered with draw cards. Off: owed cards are drawn at once.",
        "STACK-1",
    ),
    OptionSpec(
        "zero_seven",
        "Sevens swap, noughts pass",
        bool,
        True,
        "On: a 7 swaps hands and a 0 passes them on. Off: 0 and 7 are plain numbers.",
        "SEVEN-1",
    ),
    OptionSpec(
        "roulette_color",
        "Who names the roulette's colour",
        str,
        "victim",
        "victim: the player it is aimed at. player: who plays it, and the victim draws at once.",
        "ROUL-2",
        values=("victim", "player"),
    ),
    OptionSpec(
        "last_draw_card",
        "A draw card as the last card",
        str,
        "contest",
        "contest: the others may stack first. draw_then_win: the next player draws what is owed, unanswered, and it"
        " scores. win_now: the round ends and nobody draws.",
        "END-2",
        values=("contest", "draw_then_win", "win_now"),
    ),
    OptionSpec(
        "uno_on_received_hand",
        "UNO for a received card",
        bool,
        True,
        "On: a single card received by a 7 or a 0 owes an UNO call. Off: it owes nothing.",
        "UNO-4",
    ),
    OptionSpec(
        "callout_penalty",
        "Cards for being caught",
        int,
        2,
        "How many cards a player draws who is caught without having called UNO.",
        "UNO-2",
        ranges=((0, 10),),
    ),
    OptionSpec(
        "false_catch_penalty",
        "Cards for a false catch",
        int,
        0,
        "0: a catch with nobody to catch is refused. More: it is accepted and costs the catcher so many cards.",
        "UNO-6",
        ranges=((0, 10),),
    ),
    OptionSpec(
        "mercy_limit",
        "Mercy limit",
        int,
        25,
        "A hand of so many cards knocks its player out. 0: nobody is knocked out.",
        "MERCY-1",
        ranges=((0, 0), (10, 50)),
        conflicts="mercy_limit must exceed hand_size (unless it is 0).",
    ),
    OptionSpec(
        "hand_size",
        "Cards dealt to each",
        int,
        7,
        "How many cards each player is dealt.",
        "SETUP-2",
        ranges=((1, 15),),
        conflicts="hand_size must be below mercy_limit (unless that is 0).",
    ),
    OptionSpec(
        "scoring",
        "Scoring",
        str,
        "winner",
        "winner: the winner scores the others' cards, and the most points win. penalty: each loser scores the own hand"
        " (250 if out), and the fewest points win when someone reaches the target.",
        "SCORE-3",
        values=("winner", "penalty"),
    ),
    OptionSpec(
        "target",
        "Points to play to",
        int,
        1000,
        "The score that ends the match. 0: a single round.",
        "SCORE-3",
        ranges=((0, 5000),),
    ),
)

PRESETS: Final[dict[str, Options]] = {
    "no-mercy": Options(),
    "classic": Options(
        deck="classic108",
        draw_until_playable=False,
        drawn_must_play=False,
        stacking=False,
        zero_seven=False,
        last_draw_card="draw_then_win",
        mercy_limit=0,
        target=500,
    ),
}

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


def options_from(preset: str, overrides: Mapping[str, object]) -> Options:
    """Return a preset's options with some of them changed; raises BadInput with one clear sentence.

    >>> options_from("no-mercy", {"mercy_limit": 30}).mercy_limit
    30
    """
    if preset not in PRESETS:
        raise BadInput(f"There is no preset {preset!r}; there are {', '.join(PRESETS)}.")
    values: dict[str, object] = {name: _checked(name, value) for name, value in overrides.items()}
    options = replace(PRESETS[preset], **values)  # type: ignore[arg-type]  # every value was checked against its row
    if options.mercy_limit and options.mercy_limit <= options.hand_size:
        raise BadInput("The option mercy_limit must exceed hand_size.")
    return options


def options_diff(preset: str, options: Options) -> dict[str, object]:
    """Return what differs from the preset: ``options_from(preset, options_diff(preset, o)) == o``."""
    base = PRESETS[preset]
    return {
        field.name: getattr(options, field.name)
        for field in fields(Options)
        if getattr(options, field.name) != getattr(base, field.name)
    }


def options_dict(options: Options) -> dict[str, bool | int | str]:
    """Return every option by name, in the order of the table."""
    return {spec.name: getattr(options, spec.name) for spec in OPTIONS}
