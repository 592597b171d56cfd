"""The page of the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import NamedTuple

from games import rules
from games.render.words import option_value


class Section(NamedTuple):
    """A section of the rulebook."""

    title: str
    rules: Sequence[rules.Rule]


class Option(NamedTuple):
    """An option of a table. `rule` is the number of its rule, `presets` are pairs of a preset's title and its value."""

    name: str
    title: str
    help: str
    rule: str
    presets: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RulebookPage:
    """All rules and all options of a table."""

    sections: Sequence[Section]
    options: Sequence[Option]


@cache
def rulebook_page() -> RulebookPage:
    """Return the page of the rules, which is the same for every reader."""
    by_section = groupby(rules.RULEBOOK, key=lambda rule: rule.section)
    return RulebookPage(
        sections=[Section(title, list(found)) for title, found in by_section],
        options=[Option(spec.name, spec.title, spec.help, spec.source, preset_values(spec)) for spec in rules.OPTIONS],
    )


def preset_values(spec: rules.OptionSpec) -> list[tuple[str, str]]:
    """Return each preset's title with its value of this option in words."""
    return [
        (title, option_value(spec, getattr(rules.PRESETS[preset], spec.name)))
        for preset, title in rules.PRESET_TITLES.items()
    ]
