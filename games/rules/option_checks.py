"""Which options go together (OPT-1), what a form switches on besides, and the warning of OPT-2."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from common.say import ENGLISH, N_, Say
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

    ``option`` is where a form shows ``sentence``, as in ``BadOption``. ``found`` tests a table's options.
    ``changes`` are pairs of an option and a value that end the conflict; a form makes the first of them whose option
    its reader left alone.
    """

    option: str
    found: Callable[[Options], bool]
    sentence: str
    changes: tuple[tuple[str, bool | int | str], ...] = ()


_NEEDED_BY_ADVANCED_STACKING: Final = N_(
    "The option {advanced_stacking} needs {stacking} other than {stacking=off}, and {last_draw_card}"
    " {last_draw_card=contest}."
)

_CONFLICTS: Final = (
    Conflict(
        "mercy_limit",
        lambda o: 0 < o.mercy_limit <= o.hand_size,
        N_("The option {mercy_limit} must exceed {hand_size}."),
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
        N_("The option {bluff} must be {bluff=off} with a No Mercy deck."),
        (("bluff", "off"),),
    ),
    Conflict(
        "first_discard",
        lambda o: o.first_discard == "official" and has_no_mercy_deck(o),
        N_("The option {first_discard} must be {first_discard=number} with a No Mercy deck."),
        (("first_discard", "number"),),
    ),
    Conflict(
        "buzzers",
        lambda o: o.buzzers != "off" and has_flip_deck(o),
        N_("The option {buzzers} must be {buzzers=off} with the deck {deck=flip112}."),
        (("buzzers", "off"),),
    ),
    Conflict(
        "roulette_color",
        lambda o: o.roulette_color != "player" and has_flip_deck(o),
        N_("The option {roulette_color} must be {roulette_color=player} with the deck {deck=flip112}."),
        (("roulette_color", "player"),),
    ),
    Conflict(
        "flip_backs",
        lambda o: o.flip_backs != "hidden" and not has_flip_deck(o),
        N_("The option {flip_backs} must be {flip_backs=hidden} without the deck {deck=flip112}."),
        (("flip_backs", "hidden"),),
    ),
)


_NAMED: Final = re.compile(r"\{((\w+)(?:=(\w+))?)\}")


class BadOption(BadInput):
    """An option, or the number of players, cannot have this value at this table, or at any.

    Placeholders in ``sentence`` are ``{option}`` for the option, ``{name}`` for another one, ``{name=value}`` for one
    of its values, or names of ``facts``. The message has options and values as the API names them, and ``said`` has the
    titles and labels of forms.
    """

    def __init__(self, option: str, sentence: str, **facts: int | str) -> None:
        self._sentence = sentence
        self._facts = facts
        found = {one[1]: (one[2], one[3] or "") for one in _NAMED.finditer(sentence)} | {"option": (option, "")}
        self._options = {placeholder: named for placeholder, named in found.items() if named[0] in SPECS}
        names = {placeholder: value or name for placeholder, (name, value) in self._options.items()}
        super().__init__(ENGLISH.text("refusal", sentence, **names, **facts), option=option)

    def said(self, say: Say) -> str:
        """Return the sentence for a form."""
        titles = {placeholder: _titled(name, value, say) for placeholder, (name, value) in self._options.items()}
        return say.text("refusal", self._sentence, **titles, **self._facts)


def _titled(name: str, value: str, say: Say) -> str:
    """Return the title of an option, or the label of one of its values, in quotation marks."""
    text = SPECS[name].label(value) if value else SPECS[name].title
    return say.text("quotation", "“{text}”", text=say.text("option", text))


def _checked(name: str, value: object) -> object:
    spec = SPECS.get(name)
    if spec is None:
        raise BadInput(f"There is no option {name!r}.")
    if isinstance(value, bool):
        value = dict(spec.earlier).get(value, value)
    if type(value) is not spec.type:
        raise BadOption(name, _WRONG_TYPE[spec.type])
    if spec.values and value not in spec.values:
        raise BadOption(name, "The option {option} must be one of {values}.", values=", ".join(spec.values))
    if isinstance(value, int) and spec.ranges and not any(low <= value <= high for low, high in spec.ranges):
        *zero, (low, high) = spec.ranges
        raise BadOption(name, _NEITHER_ZERO_NOR_IN_RANGE if zero else _NOT_IN_RANGE, low=low, high=high)
    return value


_WRONG_TYPE: Final = {
    bool: N_("The option {option} must be true or false."),
    int: N_("The option {option} must be a whole number."),
    str: N_("The option {option} must be a text."),
}
_NOT_IN_RANGE: Final = N_("The option {option} must be {low} to {high}.")
_NEITHER_ZERO_NOR_IN_RANGE: Final = N_("The option {option} must be 0 or {low} to {high}.")


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
            raise BadOption(conflict.option, conflict.sentence)
    return options


def conflicts(base: Options, overrides: Mapping[str, object]) -> list[BadInput]:
    """Return a refusal for each conflict among the options of ``base`` with some of them changed (OPT-1).

    :raises BadInput: if an option is unknown or a value is not allowed.
    """
    options = _overridden(base, overrides)
    found = {conflict.sentence: conflict.option for conflict in _CONFLICTS if conflict.found(options)}
    return [BadOption(option, sentence) for sentence, option in found.items()]


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
        raise BadOption(
            "players",
            "The deck has too few cards for {players} players with {cards} cards each: at least {spare} must be left.",
            players=players,
            cards=options.hand_size,
            spare=SPARE_CARDS,
        )


def warning(options: Options) -> str:
    """Return a sentence about options that are allowed but not wise, or an empty text (OPT-2)."""
    if has_no_mercy_deck(options) and not options.mercy_limit:
        return NO_LIMIT_WARNING
    return ""
