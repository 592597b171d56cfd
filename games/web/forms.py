"""The form for a new table. Its fields for rule options come from `rules.OPTIONS`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from common.readers_language import say
from common.say import N_
from games import rules
from games.actions import lobby
from games.actions.lobby import MAX_PAUSE, MOST_MISSES, TableChoices
from games.bots import BOTS
from games.models import Game
from games.models.paces import CUSTOM, LIMITS, PACES, pace_named, seconds_of, span
from games.refusals import Denied
from games.render import new_table as words
from games.render.rulebook import EVERY_RULE, rules_url, usual_value

PREFIX: Final = "option_"
CLOCK: Final = "clock_"
USUAL: Final = TableChoices()
"""The initial values of the form, except that bots take all other seats."""
SINGLE_ROUND: Final = "0"
A_NUMBER: Final = re.compile(r"[0-9]{1,4}")
"""Points to play to. The form offers named lengths, and programs may send a number."""
OWN_FIELDS: Final = tuple(spec for spec in rules.OPTIONS if spec.name != "target")
"""The options with a field in a group. `target` is set by the field for the length of the game."""
OTHERS: Final = "others"
"""The choice of bots that follows the way to play: in all other seats for `words.BOTS`, otherwise in none."""


def _help(spec: rules.OptionSpec) -> SafeString:
    """Return what a reader of an option's values needs to know besides, and the value of each preset."""
    lines = [spec.about, *(f"{number}: {meaning}" for number, meaning in _examples(spec).items())]
    link = format_html('<a href="{}#{}">{}</a>', rules_url(EVERY_RULE), spec.source, spec.source)
    rule = format_html(say.found("option", "Rule {rule}."), rule=link)
    default = say.text("option", "Default: {value}.", value=usual_value(spec))
    return format_html_join(" ", "{}", ([line] for line in (*lines, default, rule) if line))


def _examples(spec: rules.OptionSpec) -> dict[int, str]:
    """Return how a table is played with the highest number of any preset, and with 0 if that is something else."""
    if spec.choices:
        return {}
    numbers = [max(getattr(options, spec.name) for options in rules.PRESETS.values()), *([0] if spec.zero else [])]
    return {number: spec.sentence(number, say) for number in numbers}


def _default(spec: rules.OptionSpec, preset: str) -> str:
    """Return the value that an option left alone has with a preset: `off`, or `lottery; at Live tables race`."""
    usual, live = (spec.label(getattr(rules.preselected(preset, live=live), spec.name)) for live in (False, True))
    return usual if usual == live else say.text("option", "{usual}; at Live tables {live}", usual=usual, live=live)


@cache
def _needs(preset: str) -> dict[str, dict[str, dict[str, str]]]:
    """Return what else changes if an option of a preset has a value: the other fields with their title and value."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for spec in OWN_FIELDS:
        for choice in spec.choices:
            needed = rules.changes_needed(rules.PRESETS[preset], {spec.name: choice.value})
            if needed:
                said = {
                    PREFIX + name: f"{rules.SPECS[name].title}: {rules.SPECS[name].label(value)}"
                    for name, value in needed.items()
                }
                found.setdefault(PREFIX + spec.name, {})[str(choice.value)] = said
    return found


@cache
def _of_presets() -> dict[str, dict[str, object]]:
    """Return what `static/js/folds.js` has to know when another preset is chosen."""
    return {
        preset: {
            "most_players": rules.MAX_PLAYERS_OF[preset],
            "lengths": {name: words.length_hint(name, preset) for name in words.LENGTHS},
            "defaults": {PREFIX + spec.name: _default(spec, preset) for spec in OWN_FIELDS},
            "needs": _needs(preset),
        }
        for preset in rules.PRESETS
    }


def _option_field(spec: rules.OptionSpec, preset: str) -> forms.Field:
    """Return the field of one option. Left empty, the option has the value of the preset."""
    about: dict[str, Any] = {"label": spec.title, "help_text": _help(spec), "required": False}
    if spec.type is int:
        low, high = min(low for low, _ in spec.ranges), max(high for _, high in spec.ranges)
        default = say.text("option", "Default: {value}", value=_default(spec, preset))
        empty = forms.NumberInput({"placeholder": default})
        return forms.IntegerField(min_value=low, max_value=high, widget=empty, **about)
    labels = [words.choice(one.label, f"{spec.title}: {one.label}", one.meaning) for one in spec.choices]
    values = [str(one.value) for one in spec.choices]
    choices = [
        ("", words.choice(say.text("option", "Default"), "", _default(spec, preset))),
        *zip(values, labels, strict=True),
    ]
    about |= {"choices": choices, "widget": forms.RadioSelect}
    if spec.type is bool:
        return forms.TypedChoiceField(coerce=lambda text: text == "True", empty_value=None, **about)
    return forms.ChoiceField(**about)


def _radio(
    label: str,
    choices: Sequence[tuple[object, str]] | Callable[[], Sequence[tuple[object, str]]],
    initial: object,
    coerce: Callable[[Any], object] = str,
    **more: Any,
) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        label=label, choices=choices, initial=initial, coerce=coerce, widget=forms.RadioSelect, **more
    )


class SpanField(forms.CharField):
    """A length of time like `2 h`. Its cleaned value is the number of seconds, or None if empty."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        try:
            return seconds_of(text) if text else None
        except ValueError as bad:
            raise forms.ValidationError(str(bad)) from bad


_CLOCK_FIELDS: Final = {
    "bank": (N_("Starting time"), N_("What each player has saved before the first turn.")),
    "increment": (N_("Added per turn"), N_("Added when a turn begins.")),
    "cap": (N_("Maximum"), N_("The longest a turn can be. At 1 h or less the table counts as live.")),
    "callout": (N_("Time to catch"), N_("How long a player who didn’t call UNO can be caught.")),
}
"""The label and the help of each time of a custom pace."""


def _clock_field(name: str) -> SpanField:
    """Return the field for a time of the custom pace. Its initial value is that of the fast pace."""
    label, help_text = _CLOCK_FIELDS[name]
    low, high = (span(seconds) for seconds in LIMITS[name])
    limits = say.text("clock", "{low} to {high}.", low=low, high=high)
    return SpanField(
        label=say.text("clock", label),
        initial=span(getattr(PACES["fast"], name)),
        required=False,
        max_length=20,
        help_text=" ".join([say.text("clock", help_text), limits]),
    )


class LengthField(forms.ChoiceField):
    """The length of a game: a name of `rules.Lengths`, or the points to play to."""

    def valid_value(self, value: Any) -> bool:
        return super().valid_value(value) or A_NUMBER.fullmatch(value) is not None


def _length(preset: str, sent: str = "") -> LengthField:
    """Return the field of the length at tables with this preset. If points were `sent`, they are among its choices."""
    single = say.text("length", "A single round")
    choices = [
        (SINGLE_ROUND, words.choice(single, single)),
        *((name, words.length_choice(name, preset)) for name in words.LENGTHS),
    ]
    if A_NUMBER.fullmatch(sent) and sent != SINGLE_ROUND:
        text = say.plural("length", "To {n} point", "To {n} points", int(sent))
        choices.append((sent, words.choice(text, text)))
    return LengthField(label="Length", choices=choices, initial=SINGLE_ROUND, widget=forms.RadioSelect)


@dataclass(frozen=True, slots=True)
class InnerFold:
    """Fields that fold inside a fold. Open if it is `unfolded`, or if one of them has an error."""

    title: str
    fields: Sequence[forms.BoundField]
    id: str = ""
    unfolded: bool = False

    @property
    def open(self) -> bool:
        return self.unfolded or any(field.errors for field in self.fields)


@dataclass(frozen=True, slots=True)
class Fold:
    """A part of the form that folds. While it is folded, it says in `summary` what is chosen, or `nothing_chosen`.

    `side_by_side` are fields that stand beside each other after the others, and `unsaid` the names of those that the
    summary leaves out. `wide`: its choices have long texts.
    `is_rules`: it has the options of the rules. `also` says what else the choices change. Open if a field has an error.
    """

    title: str
    fields: Sequence[forms.BoundField] = ()
    side_by_side: Sequence[forms.BoundField] = ()
    inner_folds: Sequence[InnerFold] = ()
    nothing_chosen: str = ""
    wide: bool = False
    is_rules: bool = False
    also: Sequence[str] = ()
    unsaid: Sequence[str] = ()

    @property
    def open(self) -> bool:
        fields = (*self.fields, *self.side_by_side)
        return any(part.open for part in self.inner_folds) or any(field.errors for field in fields)

    @property
    def summary(self) -> str:
        inner = (field for part in self.inner_folds for field in part.fields)
        fields = [field for field in (*self.fields, *inner) if field.name not in self.unsaid]
        also = say.text("fold", "also {options}", options=", ".join(self.also)) if self.also else ""
        return ", ".join(filter(None, [*map(_line_of, fields), also])) or self.nothing_chosen


def _line_of(field: forms.BoundField) -> str:
    """Return what a fold says of a field, which may be nothing. `static/js/folds.js` says the same after a change."""
    if isinstance(field.field, forms.ChoiceField):
        labels = [choice.data["label"] for choice in field.subwidgets if choice.data["selected"]]
        return ", ".join(label.line for label in labels if isinstance(label, words.ChoiceLabel))
    value = field.value()
    return f"{field.label}: {value}" if field.name.startswith(PREFIX) and value not in (None, "") else ""


def _how_to_play(preset: str) -> str:
    return f"{rules_url(preset)}#how-to-play"


class PresetChoice(NamedTuple):
    """A preset to choose, with its radio button and the address of how to play by it."""

    radio: SafeString
    card: words.PresetCard
    rules_url: str


class NewTableForm(forms.Form):
    """The options of a new table. `lobby.create_table` validates `table_choices` again."""

    way = _radio(
        "Who plays",
        lambda: [(name, words.way_choice(name)) for name in words.WAYS],
        words.BOTS,
        required=False,
    )
    preset = _radio("Which game", list(rules.PRESET_TITLES.items()), USUAL.preset)
    players = _radio(
        "Players",
        lambda: [(n, words.players_choice(n)) for n in range(rules.MIN_PLAYERS, rules.MAX_PLAYERS + 1)],
        USUAL.players,
        int,
    )
    bots = _radio(
        "Bots",
        lambda: [
            (OTHERS, words.bots_choice(None)),
            *((n, words.bots_choice(n)) for n in range(rules.MAX_PLAYERS)),
        ],
        OTHERS,
        help_text="With bots in all other seats the game starts at once. Free seats are for people.",
    )
    bot = _radio(
        "Bots play",
        lambda: [(bot.name, words.bot_choice(bot)) for bot in BOTS.values()],
        USUAL.bot,
    )
    target = _length(USUAL.preset)
    pace = _radio(
        "Pace",
        lambda: [
            *((pace.name, words.pace_choice(pace)) for pace in PACES.values()),
            (CUSTOM, words.choice(say.text("pace", "Custom: set your own clock"), say.text("pace", "Custom"))),
        ],
        USUAL.pace,
    )
    vacations = _radio(
        "Does a vacation stop its player’s clock?",
        lambda: [(1, words.vacations_choice(True)), (0, words.vacations_choice(False))],
        1,
        lambda text: text != "0",
        required=False,
        empty_value=True,
        help_text="Live tables have no vacations. Quiet hours count either way.",
    )
    misses_allowed = forms.IntegerField(
        label="Missed turns in a row",
        required=False,
        initial=USUAL.misses_allowed,
        min_value=1,
        max_value=MOST_MISSES,
        help_text="How many turns in a row a player can miss before the next setting applies.",
    )
    after_misses = _radio("After that", Game.AfterMisses.choices, USUAL.after_misses, required=False)
    public = _radio(
        "Who can join",
        lambda: [("", words.public_choice(None)), (1, words.public_choice(True)), (0, words.public_choice(False))],
        "",
        lambda text: text == "1",
        required=False,
        empty_value=None,
    )
    programs = _radio(
        "Allow accounts that are run by a program?",
        lambda: [(1, words.programs_choice(True)), (0, words.programs_choice(False))],
        1,
        lambda text: text != "0",
        required=False,
        empty_value=True,
    )
    bot_pause = forms.FloatField(
        label="Bot delay in seconds",
        initial=USUAL.bot_pause,
        min_value=0,
        max_value=MAX_PAUSE,
        help_text="Before each bot move, so that you can follow the game and catch bots.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields |= {CLOCK + name: _clock_field(name) for name in LIMITS}
        self.fields |= {PREFIX + spec.name: _option_field(spec, self._known_preset) for spec in OWN_FIELDS}
        self.fields["target"] = _length(self._known_preset, self.data.get("target", ""))

    def clean(self) -> dict[str, Any]:
        """Combine the four clock fields into one value. They are required only for the custom pace."""
        chosen: dict[str, Any] = super().clean() or self.cleaned_data
        numbers = {name: chosen.pop(CLOCK + name, None) for name in LIMITS}
        chosen["clock"] = None
        if chosen.get("pace") == CUSTOM:
            for name in (name for name, seconds in numbers.items() if seconds is None):
                if not self.has_error(CLOCK + name):
                    self.add_error(CLOCK + name, say.text("error", "The custom pace needs this time."))
            self._clean_clock({name: seconds for name, seconds in numbers.items() if seconds is not None})
            chosen["clock"] = numbers
        if not self.errors:
            self._clean_table()
        return chosen

    def _clean_table(self) -> None:
        """Add each conflict of the table that the form asks for, and any other refusal, to the field to change."""
        refusals: list[rules.BadInput | Denied] = []
        try:
            table = self.table_choices()
            refusals += rules.conflicts(rules.PRESETS[table.preset], table.options)
            lobby.options_to_store(table)
        except (rules.BadInput, Denied) as refused:
            refusals.append(refused)
        for option, sentence in dict.fromkeys((refused.option, refused.said(say)) for refused in refusals):
            field = PREFIX + option
            self.add_error(field if field in self.fields else option or None, sentence)

    def _clean_clock(self, numbers: Mapping[str, int]) -> None:
        """Add an error to each clock field with an invalid value. `custom_pace` validates them again."""
        for name, seconds in numbers.items():
            low, high = LIMITS[name]
            if not low <= seconds <= high:
                self.add_error(
                    CLOCK + name, say.text("error", "Choose {low} to {high}.", low=span(low), high=span(high))
                )
        cap = numbers.get("cap")
        if cap is None or self.has_error(CLOCK + "cap"):
            return
        least = max(numbers.get("bank", 0), numbers.get("increment", 0))
        if cap < least:
            longer = say.text("error", "Choose at least {time}, the longer of the two times above.", time=span(least))
            self.add_error(CLOCK + "cap", longer)
        elif numbers.get("callout", 0) > cap:
            shorter = say.text("error", "Choose at most {time}, the longest turn.", time=span(cap))
            self.add_error(CLOCK + "callout", shorter)

    @property
    def presets(self) -> list[PresetChoice]:
        """The presets to choose from, each with its radio button."""
        radios = [choice.tag() for choice in self["preset"].subwidgets]
        return [
            PresetChoice(radio, card, _how_to_play(card.name))
            for radio, card in zip(radios, words.PRESET_CARDS, strict=True)
        ]

    @property
    def _known_preset(self) -> str:
        """The chosen preset, or the usual one if an unknown one was sent."""
        chosen = self["preset"].value()
        return chosen if chosen in rules.PRESETS else USUAL.preset

    @property
    def how_to_play(self) -> str:
        """The address of how to play by the chosen preset. `static/js/folds.js` follows another choice."""
        return _how_to_play(self._known_preset)

    @property
    def of_presets(self) -> Mapping[str, object]:
        """The defaults of each preset, and what its options need. `static/js/folds.js` follows another choice."""
        return _of_presets()

    @property
    def descriptions(self) -> list[tuple[str, str]]:
        """The title of each preset, and what its rules are like."""
        return [(rules.PRESET_TITLES[name], text) for name, text in rules.PRESET_DESCRIPTIONS.items()]

    @property
    def folds(self) -> list[Fold]:
        """The parts of the form below the presets."""
        clock = InnerFold(
            "Custom clock",
            [self[CLOCK + name] for name in LIMITS],
            id="own-clock",
            unfolded=self["pace"].value() == CUSTOM,
        )
        groups = [
            InnerFold(title, [self[PREFIX + spec.name] for spec in specs])
            for title, specs in groupby(OWN_FIELDS, key=attrgetter("group"))
        ]
        game = rules.PRESET_TITLES.get(self["preset"].value())
        as_game = say.text("fold", "As {game}", game=game) if game else say.text("fold", "As chosen above")
        return [
            Fold(
                "Seats",
                [self["players"], self["bots"], self["bot"], self["public"], self["programs"]],
                [self["bot_pause"]],
                unsaid=[] if self._has_bots else ["bot"],
            ),
            Fold("Length", [self["target"]], wide=True),
            Fold("Time", [self["pace"], self["vacations"]], [self["misses_allowed"], self["after_misses"]], [clock]),
            Fold("Rules", inner_folds=groups, nothing_chosen=as_game, is_rules=True, also=self._also),
        ]

    @property
    def _has_bots(self) -> bool:
        """Whether bots play at the table, as far as the form says. It may be invalid."""
        bots = str(self["bots"].value())
        return self["way"].value() in (words.BOTS, None, "") if bots == OTHERS else bots != "0"

    @property
    def _also(self) -> list[str]:
        """What else the chosen rule options change, as titles and values. The form may be invalid."""
        chosen = {name: str(self[name].value() or "") for name in self.fields if name.startswith(PREFIX)}
        needed: dict[str, str] = {}
        for field, by_value in _needs(self._known_preset).items():
            needed |= by_value.get(chosen[field], {})
        return [said for field, said in needed.items() if not chosen[field]]

    def table_choices(self) -> TableChoices:
        """Return the options that a valid form asks for.

        Rule options that were left alone have the values that the preset preselects, or those that the chosen options
        need (`switched`).
        """
        chosen = dict(self.cleaned_data)
        way = chosen.pop("way") or words.BOTS
        others = chosen["players"] - 1 if way == words.BOTS else 0
        chosen["bots"] = others if chosen["bots"] == OTHERS else int(chosen["bots"])
        if chosen["public"] is None:
            chosen["public"] = way != words.FRIENDS
        if chosen["target"] in words.LENGTHS:
            chosen["target"] = getattr(rules.LENGTHS_OF[chosen["preset"]], chosen["target"]).points
        chosen["target"] = int(chosen["target"])
        for spec in OWN_FIELDS:
            del chosen[PREFIX + spec.name]
        for name in ("misses_allowed", "after_misses"):
            if chosen[name] in (None, ""):
                del chosen[name]
        changed = rules.options_diff(chosen["preset"], self._preselected) | self._chosen_options | self.switched
        return TableChoices(**chosen, options=changed)

    @property
    def _preselected(self) -> rules.Options:
        """The options of the chosen preset at the chosen pace."""
        pace = pace_named(self.cleaned_data["pace"], self.cleaned_data["clock"])
        return rules.preselected(self.cleaned_data["preset"], live=pace.races)

    @property
    def _chosen_options(self) -> dict[str, object]:
        """The rule options that were not left at their default, by name."""
        values = {spec.name: self.cleaned_data[PREFIX + spec.name] for spec in OWN_FIELDS}
        return {name: value for name, value in values.items() if value not in (None, "")}

    @property
    def switched(self) -> dict[str, bool | int | str]:
        """What else changes in a valid form, because the chosen rule options need it."""
        return rules.changes_needed(self._preselected, self._chosen_options)

    @property
    def notes(self) -> list[str]:
        """What the person who submits a valid form should know about the new table, in sentences."""
        switched = self.switched
        notes = [_switched_note(name, getattr(self._preselected, name), value) for name, value in switched.items()]
        table = self.table_choices()
        warning = rules.warning(rules.options_from(table.preset, table.options))
        return [*notes, warning] if warning else notes


def _switched_note(name: str, before: object, after: object) -> str:
    spec = rules.SPECS[name]
    if after in (False, "off"):
        said = say.text("option", "Also switched off: {option}.", option=spec.title)
    elif before in (False, "off"):
        said = say.text("option", "Also switched on: {option}.", option=spec.title)
    else:
        said = say.text("option", "Also changed: {option}.", option=spec.title)
    return " ".join((said, spec.sentence(after, say)))
