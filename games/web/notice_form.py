"""The form of what one wants to be told: a switch for each kind and channel, and the hour of the summary."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from django import forms
from django.forms import BoundField

from games.models.notices import CHANNELS, DIGEST, KINDS, NoticeSettings

HELP: Final = {
    "turn": "A few minutes after it becomes your turn, unless you have moved or have the game open.",
    "deadline": "Once, when four fifths of your time are gone. At night only if your time ends soon after it.",
    "bot_took_over": "You missed so many turns in a row that a bot plays your hand until you take your seat back.",
    "taken_out": "You missed so many turns in a row that you are out of the game: at that table no bot takes over.",
    "day_taken": "Your time ran out, and a day of vacation was taken instead of a missed turn.",
    "caught": "Somebody caught you with one card and no UNO.",
    "out": "You reached the mercy limit.",
    "round_over": "A round of a match has a winner.",
    "game_over": "A game or a match has a winner or is called off, or your table closes before it began.",
    "invited": "Somebody asks you for a rematch.",
    "table_full": "The last seat is taken, and the game begins.",
    "seat_moved": "Staff give your seat to somebody else or to a bot, or somebody else’s to you.",
    "report_settled": "Staff have looked at what you reported, and say what came of it.",
    "factor_dropped": "Staff removed your authenticator app and recovery codes, because you had lost them.",
}


class Row(NamedTuple):
    """A kind of notice with its switches, one a channel."""

    title: str
    help: str
    switches: list[BoundField]


class NoticeForm(forms.Form):
    """`chosen` is what the person has said so far."""

    def __init__(self, *args: Any, chosen: NoticeSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in KINDS.values():
            if kind.name == DIGEST:
                continue
            for channel, name in CHANNELS.items():
                self.fields[f"{kind.name}.{channel}"] = forms.BooleanField(
                    label=f"{kind.title}, {name[0].lower()}{name[1:]}",
                    required=False,
                    initial=chosen.wants(kind.name, channel),
                )
        hours = [("", "No summary"), *((str(hour), f"{hour:02}:00") for hour in range(24))]
        self.fields["digest_hour"] = forms.ChoiceField(
            label="The day’s summary by email, at",
            choices=hours,
            required=False,
            initial="" if chosen.digest_hour is None else str(chosen.digest_hour),
        )

    @property
    def rows(self) -> list[Row]:
        return [
            Row(kind.title, HELP[kind.name], [self[f"{kind.name}.{channel}"] for channel in CHANNELS])
            for kind in KINDS.values()
            if kind.name != DIGEST
        ]

    @property
    def channels(self) -> list[str]:
        """The heads of the columns."""
        return list(CHANNELS.values())

    def choices(self) -> dict[str, bool]:
        """The switches of a valid form, by `kind.channel`."""
        return {name: value for name, value in self.cleaned_data.items() if name != "digest_hour"}

    def digest_hour(self) -> int | None:
        """The hour of a valid form."""
        hour = self.cleaned_data["digest_hour"]
        return int(hour) if hour else None
