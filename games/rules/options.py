"""The options of one table."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from games.rules.option_rows import OPTIONS
from games.rules.ruleset import Ruleset, ruleset


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one table. ``OPTIONS`` says what each field means, and ``PRESETS`` has the usual values.

    ``rules`` and ``plays_out_of_turn`` are worked out from the options. The latter is True if a seat that is not on
    turn may ever play a card (RUN-2, INT-1).
    """

    # Records write their options in the order of the fields, so a new field comes last. Its default is the value that
    # all games before it were played with, so that presets and stored games need not name it.

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
    def is_match(self) -> bool:
        """Whether more than a single round is played (MATCH-1)."""
        return self.target > 0 or self.rounds > 1

    @property
    def may_fine(self) -> bool:
        """Whether a seat may get penalty points within a round (INT-4, ELIM-2)."""
        return self.mercy_card_points or (self.interceptions != "off" and self.interception_penalty > 0)

    def may_hold_all_cards(self, players: int) -> bool:
        """Return True if the players' hands could hold all cards but the top card (STUCK-1)."""
        return not self.mercy_limit or players * (self.mercy_limit - 1) >= self.rules.deck.size - 1


def difference(base: Options, options: Options) -> dict[str, object]:
    """Return the values of ``options`` that differ from ``base``, by name, in the order of the fields."""
    names = [option.name for option in fields(Options) if option.init]
    return {name: getattr(options, name) for name in names if getattr(options, name) != getattr(base, name)}


def options_dict(options: Options) -> dict[str, bool | int | str]:
    """Return the value of every option by name, in the order of ``OPTIONS``."""
    return {spec.name: getattr(options, spec.name) for spec in OPTIONS}
