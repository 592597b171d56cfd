"""Presets: the rules that tables are offered under a name, and what that name means in whatever was stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from games.rules.errors import BadInput
from games.rules.options import Options, difference, with_overrides


class Preset(NamedTuple):
    """A row.

    ``offered`` is what a new table gets, and may be edited. ``stored`` is what stored games and records keep their
    difference from: it is never edited, for it would change the rules of games that run and of rounds long over. It is
    written in full, so that a new option has to say there what was played before it.
    """

    name: str
    title: str
    stored: Options
    offered: Options


_NO_MERCY: Final = Options(
    deck="nomercy168",
    voluntary_draw=True,
    draw_until_playable=True,
    drawn_must_play=True,
    stacking=True,
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
)
_CLASSIC: Final = Options(
    deck="classic108",
    voluntary_draw=True,
    draw_until_playable=False,
    drawn_must_play=False,
    stacking=False,
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
)

_ROWS: Final = {
    row.name: row
    for row in (
        Preset("no-mercy", "No Mercy", stored=_NO_MERCY, offered=_NO_MERCY),
        Preset("classic", "Classic", stored=_CLASSIC, offered=_CLASSIC),
    )
}

PRESETS: Final[dict[str, Options]] = {row.name: row.offered for row in _ROWS.values()}
"""What tables are offered, by name."""

PRESET_TITLES: Final[dict[str, str]] = {row.name: row.title for row in _ROWS.values()}
"""What people call a preset, by name."""


def _known(preset: str) -> None:
    if preset not in _ROWS:
        raise BadInput(f"There is no preset {preset!r}; there are {', '.join(_ROWS)}.")


def options_from(preset: str, overrides: Mapping[str, object]) -> Options:
    """Return a preset's options with some of them changed; raises BadInput with one clear sentence.

    >>> options_from("no-mercy", {"mercy_limit": 30}).mercy_limit
    30
    """
    _known(preset)
    return with_overrides(PRESETS[preset], overrides)


def options_diff(preset: str, options: Options) -> dict[str, object]:
    """Return what differs from the preset as offered: ``options_from(preset, options_diff(preset, o)) == o``."""
    return difference(PRESETS[preset], options)


def options_to_store(preset: str, options: Options) -> dict[str, object]:
    """Return what a game or a record keeps of its options besides the preset's name.

    >>> options_to_store("no-mercy", options_from("no-mercy", {"mercy_limit": 30}))
    {'mercy_limit': 30}
    """
    return difference(_ROWS[preset].stored, options)


def options_from_stored(preset: str, kept: Mapping[str, object]) -> Options:
    """Return the options of a game or a record, whatever the preset offers by now; raises BadInput.

    ``options_from_stored(preset, options_to_store(preset, o)) == o``, for good.
    """
    _known(preset)
    return with_overrides(_ROWS[preset].stored, kept)
