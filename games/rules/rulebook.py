"""The numbered rules, for the rules page, docs/rules.md and the tests.

The wording is ours. ``SOURCES`` explains the letters of ``Rule.source``. Rows of rules are in ``rulebook_no_mercy.py``,
``rulebook_turns.py`` and ``rulebook_races.py``.
"""

from __future__ import annotations

from typing import Final

from games.rules.events import EVENTS
from games.rules.moves import MIN_PLAYERS
from games.rules.narration import example
from games.rules.option_rows import OPTIONS, OptionSpec
from games.rules.options import Options
from games.rules.presets import MAX_PLAYERS_OF, PRESET_DESCRIPTIONS, PRESETS
from games.rules.rulebook_no_mercy import NO_MERCY_RULES
from games.rules.rulebook_races import RACE_RULES
from games.rules.rulebook_rule import Rule
from games.rules.rulebook_turns import TURN_RULES

INTRODUCTION: Final = (
    "This is the specification that the rules package implements. Every rule has a number, which refusals, the "
    "rules page and the tests use. The wording is ours."
)

SOURCES: Final = (
    ("S", "the official instruction sheets of Mattel (No Mercy, 2023; classic; Flip, 2018)"),
    (
        "D",
        ("the designer, Nick Hayes, as quoted by the Geeky Hobbies guide: he explains S and takes precedence over it"),
    ),
    ("G", "the Geeky Hobbies guide and its FAQ"),
    ("P", "the rules page of the party site Playroom"),
    ("L", "logs of real games there"),
    ("O", "ours, because no source decides"),
)

RULEBOOK: Final[tuple[Rule, ...]] = NO_MERCY_RULES + TURN_RULES + RACE_RULES
"""Every rule. Those of the preset `no-mercy` come first."""


def rules_that_apply(options: Options, players: int) -> tuple[Rule, ...]:
    """Return the rules that a table with these options and up to so many players plays by, in ``RULEBOOK``'s order."""
    return tuple(rule for rule in RULEBOOK if rule.applies(options) and rule.reachable(options, players))


def rulebook_markdown() -> str:
    """Return the text of docs/rules.md: the rules and the table of options."""
    lines = ["# The rulebook", "", INTRODUCTION, "", "Sources:", ""]
    lines += [f"- **{letter}** {meaning}" for letter, meaning in SOURCES]
    section = ""
    for rule in RULEBOOK:
        if rule.section != section:
            section = rule.section
            lines += ["", f"## {section}", "", "| id | rule | source |", "|---|---|---|"]
        lines.append(f"| {rule.id} | {rule.text} | {rule.source} |")
    lines += ["", "## Options of the engine", "", *_options_table()]
    return "\n".join(lines) + "\n"


def presets_markdown() -> str:
    """Return the tables of presets and options of docs/api.md."""
    lines = ["| preset | players | rules |", "|---|---|---|"]
    for name, most in MAX_PLAYERS_OF.items():
        lines.append(f"| `{name}` | {MIN_PLAYERS}-{most} | {PRESET_DESCRIPTIONS[name]} |")
    lines += ["", "| option | values | rule |", "|---|---|---|"]
    lines += [f"| `{spec.name}` | {_values(spec)} | {spec.source} |" for spec in OPTIONS]
    return "\n".join(lines) + "\n"


def events_markdown() -> str:
    """Return the table of events of docs/api.md."""
    lines = ["| kind | as in | fields | for the seat only | `reason` |", "|---|---|---|---|---|"]
    for kind, spec in EVENTS.items():
        public, private = (", ".join(f"`{name}`" for name in names) for names in (spec.public, spec.private))
        lines.append(f"| `{kind}` | {example(kind)} | {public} | {private} | {', '.join(spec.reasons)} |")
    return "\n".join(lines) + "\n"


def _options_table() -> list[str]:
    presets = list(PRESETS)
    titles = ["name", "values", *(f"`{name}`" for name in presets), "meaning", "rule"]
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    for spec in OPTIONS:
        values = [_typed(getattr(PRESETS[name], spec.name)) for name in presets]
        lines.append(f"| {' | '.join((f'`{spec.name}`', _values(spec), *values, spec.help, spec.source))} |")
    return lines


def _typed(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(spec: OptionSpec) -> str:
    if spec.values:
        return ", ".join(spec.values)
    ranges = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in spec.ranges)
    return ranges or "true, false"
