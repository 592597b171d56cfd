"""Which options go together (OPT-1), what a form switches on besides, and the warning of OPT-2."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from games.rules.cards import DECKS
from games.rules.errors import BadInput
from games.rules.option_rows import NO_LIMIT_WARNING, SPECS
from games.rules.options import Options

SPARE_CARDS: Final = 20
"""At least so many cards must be left after a deal (OPT-1)."""


def has_no_mercy_deck(options: Options) -> bool:
    """Return True if a table plays with one of the No Mercy decks."""
    return DECKS[options.deck].is_no_mercy


def has_flip_deck(options: Options) -> bool:
    """Return True if a table plays with cards that have two sides."""
    return len(DECKS[options.deck].sides) > 1


class Conflict(NamedTuple):
    """Options that do not go together.

    ``option`` is where a form shows ``sentence``, a text for ``_refused``. ``found`` tests a table's options.
    ``changes`` are pairs of an option and a value that end the conflict; a form makes the first of them whose option
    its reader left alone.
    """

    option: str
    found: Callable[[Options], bool]
    sentence: str
    changes: tuple[tuple[str, bool | int | str], ...] = ()


_NEEDED_BY_ADVANCED_STACKING: Final = (
    "The option {advanced_stacking} needs {stacking} other than {stacking=off}, and {last_draw_card}"
    " {last_draw_card=contest}."
)

_CONFLICTS: Final = (
    Conflict(
        "mercy_limit", lambda o: 0 < o.mercy_limit <= o.hand_size, "The option {mercy_limit} must exceed {hand_size}."
    ),
    Conflict(
        "advanced_stacking",
        lambda o: o.advanced_stacking and o.stacking == "off",
        _NEEDED_BY_ADVANCED_STACKING,
        (("stacking", "same"), ("advanced_stacking", False)),
    ),
    Conflict(
        "advanced_stacking",
        lambda o: o.advanced_stacking and o.last_draw_card != "contest",
        _NEEDED_BY_ADVANCED_STACKING,
        (("last_draw_card", "contest"), ("advanced_stacking", False)),
    ),
    Conflict(
        "bluff",
        lambda o: o.bluff != "off" and has_no_mercy_deck(o),
        "The option {bluff} must be {bluff=off} with a No Mercy deck.",
        (("bluff", "off"),),
    ),
    Conflict(
        "first_discard",
        lambda o: o.first_discard == "official" and has_no_mercy_deck(o),
        "The option {first_discard} must be {first_discard=number} with a No Mercy deck.",
        (("first_discard", "number"),),
    ),
    Conflict(
        "buzzers",
        lambda o: o.buzzers != "off" and has_flip_deck(o),
        "The option {buzzers} must be {buzzers=off} with the deck {deck=flip112}.",
        (("buzzers", "off"),),
    ),
    Conflict(
        "roulette_color",
        lambda o: o.roulette_color != "player" and has_flip_deck(o),
        "The option {roulette_color} must be {roulette_color=player} with the deck {deck=flip112}.",
        (("roulette_color", "player"),),
    ),
    Conflict(
        "flip_backs",
        lambda o: o.flip_backs != "hidden" and not has_flip_deck(o),
        "The option {flip_backs} must be {flip_backs=hidden} without the deck {deck=flip112}.",
        (("flip_backs", "hidden"),),
    ),
)


_NAMED: Final = re.compile(r"\{(\w+)(?:=(\w+))?\}")


def _refused(option: str, sentence: str) -> BadInput:
    """Return the refusal of an option.

    In ``sentence`` ``{name}`` is an option and ``{name=value}`` one of its values. The message has them as the API
    names them, and ``on_form`` has the titles and labels of forms.
    """

    def titled(found: re.Match[str]) -> str:
        spec = SPECS[found[1]]
        return f"“{spec.label(found[2]) if found[2] else spec.title}”"

    message = _NAMED.sub(lambda found: found[2] or found[1], sentence)
    return BadInput(message, option=option, on_form=_NAMED.sub(titled, sentence))


def _checked(name: str, value: object) -> object:
    spec = SPECS.get(name)
    if spec is None:
        raise BadInput(f"There is no option {name!r}.")
    if isinstance(value, bool):
        value = dict(spec.earlier).get(value, value)
    if type(value) is not spec.type:
        wanted = {bool: "true or false", int: "a whole number", str: "a text"}[spec.type]
        raise _refused(name, f"The option {{{name}}} must be {wanted}.")
    if spec.values and value not in spec.values:
        raise _refused(name, f"The option {{{name}}} must be one of {', '.join(spec.values)}.")
    if isinstance(value, int) and spec.ranges and not any(low <= value <= high for low, high in spec.ranges):
        wanted = " or ".join(str(low) if low == high else f"{low} to {high}" for low, high in spec.ranges)
        raise _refused(name, f"The option {{{name}}} must be {wanted}.")
    return value


def _overridden(base: Options, overrides: Mapping[str, object]) -> Options:
    values: dict[str, object] = {name: _checked(name, value) for name, value in overrides.items()}
    return replace(base, **values)  # type: ignore[arg-type]  # every value was checked against its row


def with_overrides(base: Options, overrides: Mapping[str, object]) -> Options:
    """Return ``base`` with some options changed.

    :raises BadInput: if an option is unknown, a value is not allowed, or options conflict (OPT-1).
    """
    options = _overridden(base, overrides)
    for conflict in _CONFLICTS:
        if conflict.found(options):
            raise _refused(conflict.option, conflict.sentence)
    return options


def conflicts(base: Options, overrides: Mapping[str, object]) -> list[BadInput]:
    """Return a refusal for each conflict among the options of ``base`` with some of them changed (OPT-1).

    :raises BadInput: if an option is unknown or a value is not allowed.
    """
    options = _overridden(base, overrides)
    found = {conflict.sentence: conflict.option for conflict in _CONFLICTS if conflict.found(options)}
    return [_refused(option, sentence) for sentence, option in found.items()]


def changes_needed(base: Options, overrides: Mapping[str, object]) -> dict[str, bool | int | str]:
    """Return what must change besides ``overrides`` so that options do not conflict, in the order of the conflicts.

    Only options that are not in ``overrides`` change. Conflicts among those that are remain.

    :raises BadInput: if an option is unknown or a value is not allowed.
    """
    options, needed = _overridden(base, overrides), dict[str, bool | int | str]()
    for conflict in _CONFLICTS:
        change = next((change for change in conflict.changes if change[0] not in overrides), None)
        if change is not None and conflict.found(options):
            needed |= [change]
            options = _overridden(options, dict([change]))
    return needed


def check_players(options: Options, players: int) -> None:
    """Check that a deck has enough cards for a number of players.

    :raises BadInput: if it has not (OPT-1).
    """
    if options.hand_size * players + SPARE_CARDS > options.rules.deck.size:
        raise BadInput(
            f"The deck has too few cards for {players} players with {options.hand_size} cards each: at least"
            f" {SPARE_CARDS} must be left.",
            option="players",
        )


def warning(options: Options) -> str:
    """Return a sentence about options that are allowed but not wise, or an empty text (OPT-2)."""
    if has_no_mercy_deck(options) and not options.mercy_limit:
        return NO_LIMIT_WARNING
    return ""
