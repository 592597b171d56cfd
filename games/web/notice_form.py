"""The form of what one wants to be told: a switch for each kind and channel, and the hour of the summary."""

from __future__ import annotations

from typing import Any, NamedTuple

from django import forms
from django.forms import BoundField

from games.models.notices import NoticeSettings
from games.notices.kinds import CHANNELS, SWITCHED, wants


class Row(NamedTuple):
    """A kind of notice with its switches, one a channel."""

    title: str
    help: str
    switches: list[BoundField]


class NoticeForm(forms.Form):
    """`chosen` is what the person has said so far."""

    def __init__(self, *args: Any, chosen: NoticeSettings, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in SWITCHED:
            for channel, name in CHANNELS.items():
                self.fields[f"{kind.name}.{channel}"] = forms.BooleanField(
                    label=f"{kind.title}, {name[0].lower()}{name[1:]}",
                    required=False,
                    initial=wants(chosen, kind.name, channel),
                )
        hours = [("", "No summary"), *((str(hour), f"{hour:02}:00") for hour in range(24))]
        self.fields["digest_hour"] = forms.ChoiceField(
            label="Daily summary by email at",
            choices=hours,
            required=False,
            initial="" if chosen.digest_hour is None else str(chosen.digest_hour),
        )

    @property
    def rows(self) -> list[Row]:
        return [
            Row(kind.title, kind.help, [self[f"{kind.name}.{channel}"] for channel in CHANNELS]) for kind in SWITCHED
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
