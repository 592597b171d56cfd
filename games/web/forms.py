"""The form for a new table. Its fields for rule options come from `rules.OPTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString

from games import rules
from games.actions import lobby
from games.actions.lobby import MAX_PAUSE, MOST_MISSES, TableOptions
from games.bots import BOTS
from games.models import Game
from games.models.paces import CUSTOM, LIMITS, PACES, pace_named, seconds_of, span
from games.refusals import Denied
from games.render.rulebook import EVERY_RULE, rules_url, usual_value

PREFIX: Final = "option_"
CLOCK: Final = "clock_"
USUAL: Final = TableOptions()
"""The initial values of the form, except that bots take all other seats."""
LENGTHS: Final = (0, 200, 500, 1000)
OWN_FIELDS: Final = tuple(spec for spec in rules.OPTIONS if spec.name != "target")
"""The options with a field in a group. `target` is set by the field for the length of the game."""
OTHERS: Final = "others"
"""The choice of bots in all other seats, for any number of players."""


def _help(spec: rules.OptionSpec) -> SafeString:
    """Return what a reader of an option's values needs to know besides, and the value of each preset."""
    about = spec.about if spec.choices else spec.help.replace(" N ", " that many ")
    link = format_html('<a href="{}#{}">{}</a>', rules_url(EVERY_RULE), spec.source, spec.source)
    return format_html("{} Default: {}. Rule {}.", about, usual_value(spec), link)


def _option_field(spec: rules.OptionSpec) -> forms.Field:
    """Return the field of one option. Left empty, the option has the value of the preset."""
    about: dict[str, Any] = {"label": spec.title, "help_text": _help(spec), "required": False}
    if spec.type is int:
        low, high = min(low for low, _ in spec.ranges), max(high for _, high in spec.ranges)
        return forms.IntegerField(min_value=low, max_value=high, **about)
    choices = [("", "Default"), *((str(one.value), _explained(one.label, one.meaning)) for one in spec.choices)]
    about |= {"choices": choices, "widget": forms.RadioSelect}
    if spec.type is bool:
        return forms.TypedChoiceField(coerce=lambda text: text == "True", empty_value=None, **about)
    return forms.ChoiceField(**about)


def _explained(label: str, meaning: str) -> SafeString:
    return format_html("{} <small>{}</small>", label, meaning)


def _radio(
    label: str,
    choices: Sequence[tuple[object, str]],
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


def _clock(name: str, label: str, help_text: str) -> SpanField:
    """Return a field for a time of the custom pace. Its initial value is that of the fast pace."""
    low, high = (span(seconds) for seconds in LIMITS[name])
    return SpanField(
        label=label,
        initial=span(getattr(PACES["fast"], name)),
        required=False,
        max_length=20,
        help_text=f"{help_text} {low} to {high}.",
    )


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Options that fold together on the page. Open if one of them has a value or an error."""

    title: str
    fields: list[forms.BoundField]
    open: bool


class NewTableForm(forms.Form):
    """The options of a new table. `lobby.create_table` validates `table_options` again."""

    players = _radio(
        "Players", [(n, str(n)) for n in range(rules.MIN_PLAYERS, rules.MAX_PLAYERS + 1)], USUAL.players, int
    )
    bots = _radio(
        "Bots",
        [(OTHERS, "All other seats"), (0, "None"), *((n, str(n)) for n in range(1, rules.MAX_PLAYERS))],
        OTHERS,
        help_text="With bots in all other seats the game starts at once. Free seats are for people.",
    )
    bot = _radio("Bots play", [(bot.name, f"{bot.label}: {bot.help}") for bot in BOTS.values()], USUAL.bot)
    target = _radio("Length", [(n, f"To {n:,} points" if n else "A single round") for n in LENGTHS], USUAL.target, int)
    pace = _radio(
        "Pace",
        [
            *((pace.name, f"{pace.label}: {pace.help}") for pace in PACES.values()),
            (CUSTOM, "Custom: set your own clock"),
        ],
        USUAL.pace,
    )
    clock_bank = _clock("bank", "Starting time", "What each player has saved before the first turn.")
    clock_increment = _clock("increment", "Added per turn", "Added when a turn begins.")
    clock_cap = _clock("cap", "Maximum", "The longest a turn can be. At 1 h or less the table counts as live.")
    clock_callout = _clock("callout", "Time to catch", "How long a player who didn’t call UNO can be caught.")
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
        [(1, "Anyone, from the list of open tables"), (0, "Only people with the link")],
        int(USUAL.public),
        lambda text: text == "1",
    )
    preset = _radio(
        "Rules",
        [(name, _explained(title, rules.PRESET_DESCRIPTIONS[name])) for name, title in rules.PRESET_TITLES.items()],
        USUAL.preset,
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
        self.fields |= {PREFIX + spec.name: _option_field(spec) for spec in OWN_FIELDS}

    def clean(self) -> dict[str, Any]:
        """Combine the four clock fields into one value. They are required only for the custom pace."""
        chosen: dict[str, Any] = super().clean() or self.cleaned_data
        numbers = {name: chosen.pop(CLOCK + name, None) for name in LIMITS}
        chosen["clock"] = None
        if chosen.get("pace") == CUSTOM:
            for name in (name for name, seconds in numbers.items() if seconds is None):
                if not self.has_error(CLOCK + name):
                    self.add_error(CLOCK + name, "The custom pace needs this time.")
            self._clean_clock({name: seconds for name, seconds in numbers.items() if seconds is not None})
            chosen["clock"] = numbers
        if not self.errors:
            self._clean_table()
        return chosen

    def _clean_table(self) -> None:
        """Add the refusal of the table that the form asks for, if there is one, to the field to change."""
        try:
            lobby.options_to_store(self.table_options())
        except (rules.BadInput, Denied) as refused:
            field = PREFIX + refused.option
            self.add_error(field if field in self.fields else refused.option or None, refused.on_form)

    def _clean_clock(self, numbers: Mapping[str, int]) -> None:
        """Add an error to each clock field with an invalid value. `custom_pace` validates them again."""
        for name, seconds in numbers.items():
            low, high = LIMITS[name]
            if not low <= seconds <= high:
                self.add_error(CLOCK + name, f"Choose {span(low)} to {span(high)}.")
        cap = numbers.get("cap")
        if cap is None or self.has_error(CLOCK + "cap"):
            return
        least = max(numbers.get("bank", 0), numbers.get("increment", 0))
        if cap < least:
            self.add_error(CLOCK + "cap", f"Choose at least {span(least)}, the longer of the two times above.")
        elif numbers.get("callout", 0) > cap:
            self.add_error(CLOCK + "callout", f"Choose at most {span(cap)}, the longest turn.")

    @property
    def clock_fields(self) -> list[forms.BoundField]:
        return [self[CLOCK + name] for name in LIMITS]

    @property
    def clock_open(self) -> bool:
        """Return True if the fields of the custom pace are shown unfolded."""
        return self["pace"].value() == CUSTOM or any(field.errors for field in self.clock_fields)

    @property
    def option_groups(self) -> list[OptionGroup]:
        groups = []
        for title, specs in groupby(OWN_FIELDS, key=attrgetter("group")):
            fields = [self[PREFIX + spec.name] for spec in specs]
            groups.append(
                OptionGroup(title, fields, any(field.errors or field.value() not in (None, "") for field in fields))
            )
        return groups

    def table_options(self) -> TableOptions:
        """Return the options that a valid form asks for.

        Rule options that were left alone have the values that the preset preselects, or those that the chosen options
        need (`switched`).
        """
        chosen = dict(self.cleaned_data)
        chosen["bots"] = chosen["players"] - 1 if chosen["bots"] == OTHERS else int(chosen["bots"])
        for spec in OWN_FIELDS:
            del chosen[PREFIX + spec.name]
        for name in ("misses_allowed", "after_misses"):
            if chosen[name] in (None, ""):
                del chosen[name]
        changed = rules.options_diff(chosen["preset"], self._preselected) | self._chosen_options | self.switched
        return TableOptions(**chosen, options=changed)

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
    def switched(self) -> dict[str, bool | str]:
        """What else changes in a valid form, because the chosen rule options need it."""
        return rules.changes_needed(self._preselected, self._chosen_options)

    @property
    def notes(self) -> list[str]:
        """What the person who submits a valid form should know about the new table, in sentences."""
        switched = self.switched
        notes = [_switched_note(name, getattr(self._preselected, name), value) for name, value in switched.items()]
        table = self.table_options()
        warning = rules.warning(rules.options_from(table.preset, table.options))
        return [*notes, warning] if warning else notes


def _switched_note(name: str, before: object, after: object) -> str:
    spec = rules.SPECS[name]
    verb = "switched off" if after in (False, "off") else "switched on" if before in (False, "off") else "changed"
    return f"Also {verb}: {spec.title}. {spec.sentence(after)}"
