"""The oracle's options: the presets' table, and the checks of a request's options (OPT-1)."""

from __future__ import annotations

from dataclasses import dataclass

from tests.rules.oracle_cards import deck_size
from tests.rules.oracle_json import BadInputError, object_of, one_of, text_of, true_or_false, whole

PRESETS = ["no-mercy", "classic", "playroom", "playroom-no-mercy", "flip", "house-party"]

# As in docs/rules.md: one row an option, one column a preset.
TABLE = """
deck                 nomercy168 classic108    classic108    nomercy168    flip112       classic108
hand_size            7          7             7             7             7             7
buzzers              off        off           off           off           off           lottery
first_discard        number     official      number        number        official      number
voluntary_draw       true       true          true          true          true          true
draw_until_playable  true       false         false         false         false         false
drawn_must_play      true       false         false         false         false         false
stacking             any        off           off           family        off           same
advanced_stacking    false      false         false         false         false         true
skip_after_draw      true       true          false         false         true          false
zero_seven           true       false         false         true          false         true
roulette_color       victim     victim        victim        player        player        victim
straights            false      false         false         false         false         true
interceptions        off        off           off           off           off           super
interception_penalty 3          3             3             3             3             3
bluff                off        official      off           off           official      playroom
callout_penalty      2          2             4             4             2             4
false_catch_penalty  0          0             0             0             0             0
uno_on_received_hand true       true          true          true          true          true
uno_window           turn       turn          open          open          turn          open
mercy_limit          25         0             0             25            0             0
mercy_points         250        250           250           250           250           250
mercy_card_points    false      false         false         false         false         false
mercy_cards          set_aside  set_aside     draw_pile     draw_pile     set_aside     draw_pile
last_draw_card       contest    draw_then_win draw_then_win draw_then_win draw_then_win contest
scoring              winner     winner        penalty       penalty       winner        penalty
target               1000       500           500           500           500           500
rounds               0          0             0             0             0             0
flip_backs           hidden     hidden        hidden        hidden        seen          hidden
"""
CHOICES = {
    "deck": ["nomercy168", "nomercy172", "classic108", "flip112"],
    "buzzers": ["off", "race", "lottery"],
    "first_discard": ["number", "official"],
    "stacking": ["off", "same", "family", "any"],
    "interceptions": ["off", "exact", "super"],
    "bluff": ["off", "official", "playroom"],
    "uno_window": ["turn", "open"],
    "mercy_cards": ["set_aside", "draw_pile"],
    "flip_backs": ["hidden", "seen"],
    "roulette_color": ["victim", "player"],
    "last_draw_card": ["contest", "draw_then_win", "win_now"],
    "scoring": ["winner", "penalty"],
}
RANGES = {
    "interception_penalty": (0, 50),
    "mercy_points": (0, 1000),
    "rounds": (0, 50),
    "callout_penalty": (0, 10),
    "false_catch_penalty": (0, 10),
    "mercy_limit": (0, 50),
    "hand_size": (1, 15),
    "target": (0, 5000),
}


@dataclass
class Options:
    """The options of a table. `values_of` gives those of a preset."""

    preset: str
    deck: str
    hand_size: int
    buzzers: str
    first_discard: str
    voluntary_draw: bool
    draw_until_playable: bool
    drawn_must_play: bool
    stacking: str
    advanced_stacking: bool
    skip_after_draw: bool
    zero_seven: bool
    roulette_color: str
    straights: bool
    interceptions: str
    interception_penalty: int
    bluff: str
    callout_penalty: int
    false_catch_penalty: int
    uno_on_received_hand: bool
    uno_window: str
    mercy_limit: int
    mercy_points: int
    mercy_card_points: bool
    mercy_cards: str
    last_draw_card: str
    scoring: str
    target: int
    rounds: int
    flip_backs: str

    @property
    def is_no_mercy(self) -> bool:
        return self.deck.startswith("nomercy")

    @property
    def is_flip(self) -> bool:
        return self.deck == "flip112"

    @property
    def most_players(self) -> int:
        return 6 if self.preset == "no-mercy" else 10

    @property
    def keeps_fines(self) -> bool:
        """Return True if a seat can be fined: for a miss (INT-4), or for the cards held when out (ELIM-2)."""
        return (self.interceptions != "off" and self.interception_penalty > 0) or self.mercy_card_points

    def can_get_stuck(self, seats: int) -> bool:
        """Return True if the players could hold the whole deck (STUCK-1)."""
        cards = deck_size(self.deck, self.buzzers)
        return self.mercy_limit == 0 or seats * (self.mercy_limit - 1) >= cards - 1


def values_of(preset: str) -> dict[str, object]:
    """Return the options of a preset as JSON values."""
    values: dict[str, object] = {}
    for row in TABLE.strip().splitlines():
        name, *cells = row.split()
        cell = cells[PRESETS.index(preset)]
        if name in CHOICES:
            values[name] = cell
        else:
            values[name] = int(cell) if name in RANGES else cell == "true"
    return values


OPTION_NAMES = list(values_of("no-mercy"))


def options_from_json(value: object) -> Options:
    """Read the options of a request.

    :raises BadInputError: if one is unknown or of a wrong value, or if they do not go together.
    """
    given = object_of(value, "options", {*OPTION_NAMES, "preset"}, {"preset"})
    preset = one_of(given["preset"], "preset", PRESETS)
    values = values_of(preset)
    for name in OPTION_NAMES:
        if name in given:
            values[name] = option_value(name, given[name])
    options = Options(preset=preset, **values)  # type: ignore[arg-type]  # `option_value` has checked the types
    check_together(options)
    return options


def option_value(name: str, value: object) -> object:
    if name == "stacking" and isinstance(value, bool):  # in the first release it was true or false
        return "any" if value else "off"
    if name in CHOICES:
        return one_of(text_of(value, name), name, CHOICES[name])
    if name in RANGES:
        return whole(value, name, *RANGES[name])
    return true_or_false(value, name)


def check_together(options: Options) -> None:
    """Check that the options go together (OPT-1, "must exceed `hand_size`" included).

    :raises BadInputError: if they do not.
    """
    if 0 < options.mercy_limit < 10 or 0 < options.mercy_limit <= options.hand_size:
        raise BadInputError("mercy_limit is 0, or 10 to 50 and above hand_size")
    if options.advanced_stacking and (options.stacking == "off" or options.last_draw_card != "contest"):
        raise BadInputError("advanced_stacking needs stacking and contest")
    if options.is_no_mercy and (options.bluff != "off" or options.first_discard == "official"):
        raise BadInputError("bluff and an official first discard need another deck")
    if options.is_flip and (options.buzzers != "off" or options.roulette_color == "victim"):
        raise BadInputError("flip112 has no buzzers, and its wilds name their colour")
    if options.flip_backs == "seen" and not options.is_flip:
        raise BadInputError("only flip112 has backs to see")


def check_players(options: Options, players: int) -> None:
    """Check that a deck is large enough to deal to so many players (OPT-1).

    :raises BadInputError: if it is not.
    """
    if options.hand_size * players + 20 > deck_size(options.deck, options.buzzers):
        raise BadInputError("the deck is too small for so many players")
