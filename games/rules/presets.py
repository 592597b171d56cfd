"""Presets: named options for new tables, and what the names mean in stored games and records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from games.rules.cards import LIGHT, Card
from games.rules.errors import BadInput
from games.rules.moves import MAX_PLAYERS
from games.rules.option_checks import with_overrides
from games.rules.options import Options, difference


class Length(NamedTuple):
    """A length of a match: the points to play to, and about how many rounds that takes four players."""

    points: int
    rounds: int


class Lengths(NamedTuple):
    """The lengths of matches that a form offers. `bench/lengths.py` measures their rounds."""

    short: Length
    match: Length
    long: Length


class Preset(NamedTuple):
    """The options behind a name, with a title, a description and a shorter `summary` for forms.

    ``offered`` are the options of a new table. They may be edited. ``stored`` are the options that stored games and
    records keep their difference from. Never edit them: that would change the rules of running and finished games.
    ``lengths`` suit the points that a round gives. ``max_players`` is the most players of a table.

    ``face`` is a face of one of its cards, for forms, and ``face_side`` the side that it is on.
    """

    name: str
    title: str
    summary: str
    description: str
    stored: Options
    offered: Options
    lengths: Lengths
    face: Card
    face_side: str | None = None
    max_players: int = MAX_PLAYERS


# A preset names every option without a default, which is the value that games before the option were played with. An
# older preset names one with a default only in `offered`, for new tables. A newer preset has no earlier games, so it
# names the option in `stored`, too.
_NO_MERCY: Final = Options(
    deck="nomercy168",
    voluntary_draw=True,
    draw_until_playable=True,
    drawn_must_play=True,
    stacking="any",
    zero_seven=True,
    roulette_color="victim",
    last_draw_card="contest",
    uno_on_received_hand=True,
    callout_penalty=2,
    false_catch_penalty=0,
    mercy_limit=25,
    hand_size=7,
    scoring="winner",
    target=1000,
    buzzers="off",
    first_discard="number",
    advanced_stacking=False,
    skip_after_draw=True,
    straights=False,
    interceptions="off",
    interception_penalty=3,
    bluff="off",
    uno_window="turn",
    mercy_points=250,
    mercy_card_points=False,
    mercy_cards="set_aside",
    rounds=0,
    flip_backs="hidden",
)
_CLASSIC: Final = Options(
    deck="classic108",
    voluntary_draw=True,
    draw_until_playable=False,
    drawn_must_play=False,
    stacking="off",
    zero_seven=False,
    roulette_color="victim",
    last_draw_card="draw_then_win",
    uno_on_received_hand=True,
    callout_penalty=2,
    false_catch_penalty=0,
    mercy_limit=0,
    hand_size=7,
    scoring="winner",
    target=500,
    buzzers="off",
    first_discard="official",
    advanced_stacking=False,
    skip_after_draw=True,
    straights=False,
    interceptions="off",
    interception_penalty=3,
    bluff="official",
    uno_window="turn",
    mercy_points=250,
    mercy_card_points=False,
    mercy_cards="set_aside",
    rounds=0,
    flip_backs="hidden",
)
# The first release had neither the official first discard nor challenges.
_CLASSIC_OF_RELEASE_1: Final = replace(_CLASSIC, first_discard="number", bluff="off")
_PLAYROOM: Final = Options(
    deck="classic108",
    voluntary_draw=True,
    draw_until_playable=False,
    drawn_must_play=False,
    stacking="off",
    zero_seven=False,
    roulette_color="victim",
    last_draw_card="draw_then_win",
    uno_on_received_hand=True,
    callout_penalty=4,
    false_catch_penalty=0,
    mercy_limit=0,
    hand_size=7,
    scoring="penalty",
    target=500,
    buzzers="off",
    first_discard="number",
    advanced_stacking=False,
    skip_after_draw=False,
    straights=False,
    interceptions="off",
    interception_penalty=3,
    bluff="off",
    uno_window="open",
    mercy_points=250,
    mercy_card_points=False,
    mercy_cards="draw_pile",
    rounds=0,
    flip_backs="hidden",
)
_PLAYROOM_NO_MERCY: Final = Options(
    deck="nomercy168",
    voluntary_draw=True,
    draw_until_playable=False,
    drawn_must_play=False,
    stacking="family",
    zero_seven=True,
    roulette_color="player",
    last_draw_card="draw_then_win",
    uno_on_received_hand=True,
    callout_penalty=4,
    false_catch_penalty=0,
    mercy_limit=25,
    hand_size=7,
    scoring="penalty",
    target=500,
    buzzers="off",
    first_discard="number",
    advanced_stacking=False,
    skip_after_draw=False,
    straights=False,
    interceptions="off",
    interception_penalty=3,
    bluff="off",
    uno_window="open",
    mercy_points=250,
    mercy_card_points=False,
    mercy_cards="draw_pile",
    rounds=0,
    flip_backs="hidden",
)
_FLIP: Final = Options(
    deck="flip112",
    voluntary_draw=True,
    draw_until_playable=False,
    drawn_must_play=False,
    stacking="off",
    zero_seven=False,
    roulette_color="player",
    last_draw_card="draw_then_win",
    uno_on_received_hand=True,
    callout_penalty=2,
    false_catch_penalty=0,
    mercy_limit=0,
    hand_size=7,
    scoring="winner",
    target=500,
    buzzers="off",
    first_discard="official",
    advanced_stacking=False,
    skip_after_draw=True,
    straights=False,
    interceptions="off",
    interception_penalty=3,
    bluff="official",
    uno_window="turn",
    mercy_points=250,
    mercy_card_points=False,
    mercy_cards="set_aside",
    rounds=0,
    flip_backs="seen",
)
_HOUSE_PARTY: Final = Options(
    deck="classic108",
    voluntary_draw=True,
    draw_until_playable=False,
    drawn_must_play=False,
    stacking="same",
    zero_seven=True,
    roulette_color="victim",
    last_draw_card="contest",
    uno_on_received_hand=True,
    callout_penalty=4,
    false_catch_penalty=0,
    mercy_limit=0,
    hand_size=7,
    scoring="penalty",
    target=500,
    buzzers="lottery",
    first_discard="number",
    advanced_stacking=True,
    skip_after_draw=False,
    straights=True,
    interceptions="super",
    interception_penalty=3,
    bluff="playroom",
    uno_window="open",
    mercy_points=250,
    mercy_card_points=False,
    mercy_cards="draw_pile",
    rounds=0,
    flip_backs="hidden",
)

_ROWS: Final = {
    row.name: row
    for row in (
        Preset(
            "no-mercy",
            "No Mercy",
            "Stack draw cards, swap hands on 7. With 25 cards you are out.",
            "The official rules of No Mercy, with strong draw cards that you stack on each other. You draw until you"
            " can play, sevens swap hands, and with 25 cards you are out of the round.",
            stored=_NO_MERCY,
            offered=_NO_MERCY,
            lengths=Lengths(Length(1000, 3), Length(2000, 6), Length(3500, 13)),
            face="W10",
            max_players=6,
        ),
        Preset(
            "classic",
            "Classic",
            "Draw one card, no stacking. A Wild Draw Four can be a bluff.",
            "The official rules of the classic game. You draw one card at a time, nothing is stacked, and a Wild Draw"
            " Four can be challenged as a bluff.",
            stored=_CLASSIC_OF_RELEASE_1,
            offered=_CLASSIC,
            lengths=Lengths(Length(200, 3), Length(500, 10), Length(750, 16)),
            face="bR",
        ),
        Preset(
            "playroom",
            "Playroom",
            "Party rules: after drawing you still play. Forget UNO, draw four.",
            "The classic deck with lighter party rules. You may still play after drawing owed cards, a forgotten UNO"
            " costs four cards, and the fewest points win.",
            stored=_PLAYROOM,
            offered=_PLAYROOM,
            lengths=Lengths(Length(100, 3), Length(250, 8), Length(500, 16)),
            face="r+2",
        ),
        Preset(
            "playroom-no-mercy",
            "Playroom No Mercy",
            "Party rules with the strong cards. After drawing you still play.",
            "The No Mercy deck with party rules. You draw one card at a time, coloured draw cards stack on coloured"
            " ones and wild on wild, and the fewest points win.",
            stored=_PLAYROOM_NO_MERCY,
            offered=_PLAYROOM_NO_MERCY,
            lengths=Lengths(Length(500, 3), Length(1000, 5), Length(2000, 11)),
            face="y+4",
        ),
        Preset(
            "flip",
            "Flip",
            "Every card has two sides. One Flip turns all to the harder one.",
            "The official rules of Flip. Every card has two sides, and a Flip card turns all of them over, to a dark"
            " side with harder cards and back. You see the hidden sides of the others’ cards, not of your own.",
            stored=_FLIP,
            offered=_FLIP,
            lengths=Lengths(Length(250, 3), Length(500, 7), Length(750, 12)),
            face="gF",
            face_side=LIGHT,
        ),
        Preset(
            "house-party",
            "House Party",
            "Straights, cards out of turn, bluffs, buzzers: all at once.",
            "The classic deck with most house rules at once: stacking, passing debts on, straights, playing out of"
            " turn, bluffs, sevens and zeros, and buzzers.",
            stored=_HOUSE_PARTY,
            offered=_HOUSE_PARTY,
            lengths=Lengths(Length(200, 3), Length(500, 8), Length(750, 12)),
            face="BZ",
        ),
    )
}

PRESETS: Final[dict[str, Options]] = {row.name: row.offered for row in _ROWS.values()}
"""The options that new tables are offered, by the name of the preset."""

PRESET_TITLES: Final[dict[str, str]] = {row.name: row.title for row in _ROWS.values()}
"""The titles of presets, by name."""

PRESET_DESCRIPTIONS: Final[dict[str, str]] = {row.name: row.description for row in _ROWS.values()}
"""What the rules of each preset are like, in two or three sentences, by name."""

PRESET_SUMMARIES: Final[dict[str, str]] = {row.name: row.summary for row in _ROWS.values()}
"""What sets each preset apart, in two lines, by name."""

FACE_OF: Final[dict[str, tuple[Card, str | None]]] = {row.name: (row.face, row.face_side) for row in _ROWS.values()}
"""A face of a card that forms show for each preset, and the side that it is on, by the name of the preset."""

LENGTHS_OF: Final[dict[str, Lengths]] = {row.name: row.lengths for row in _ROWS.values()}
"""The lengths of a match that a form offers, by the name of the preset."""

MAX_PLAYERS_OF: Final[dict[str, int]] = {row.name: row.max_players for row in _ROWS.values()}
"""The most players of a table, by the name of its preset."""


def _check_known(preset: str) -> None:
    if preset not in _ROWS:
        raise BadInput(f"There is no preset {preset!r}; there are {', '.join(_ROWS)}.")


def options_from(preset: str, overrides: Mapping[str, object]) -> Options:
    """Return the options of a preset with some of them changed.

    :raises BadInput: if the preset or an option is unknown, a value is not allowed, or options conflict.

    >>> options_from("no-mercy", {"mercy_limit": 30}).mercy_limit
    30
    """
    _check_known(preset)
    return with_overrides(PRESETS[preset], overrides)


def preselected(preset: str, *, live: bool) -> Options:
    """Return the options that the form for a new table preselects: those of a preset, and at a Live table a race.

    :param live: if the table has a live pace.
    :raises KeyError: if there is no such preset.
    """
    offered = PRESETS[preset]
    return replace(offered, buzzers="race") if live and offered.buzzers == "lottery" else offered


def options_diff(preset: str, options: Options) -> dict[str, object]:
    """Return the options that differ from the preset as offered now.

    ``options_from(preset, options_diff(preset, options)) == options``.
    """
    return difference(PRESETS[preset], options)


def options_to_store(preset: str, options: Options) -> dict[str, object]:
    """Return the options that a game or a record stores besides the name of the preset.

    >>> options_to_store("no-mercy", options_from("no-mercy", {"mercy_limit": 30}))
    {'mercy_limit': 30}
    """
    return difference(_ROWS[preset].stored, options)


def options_from_stored(preset: str, kept: Mapping[str, object]) -> Options:
    """Return the options of a stored game or record. They do not depend on what the preset offers now.

    ``options_from_stored(preset, options_to_store(preset, options)) == options``, in later releases too.

    :raises BadInput: as ``options_from``.
    """
    _check_known(preset)
    return with_overrides(_ROWS[preset].stored, kept)
