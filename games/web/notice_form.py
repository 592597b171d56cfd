"""The form of the notice settings: a switch for each kind and channel, and the hour of the daily summary."""

from __future__ import annotations

from typing import Any, NamedTuple

from django import forms
from django.forms import BoundField

from common.readers_language import say
from games.models.notices import NoticeSettings
from games.notices.kinds import switched_for, title_of, wants
from mail.channels import CHANNELS


class KindSwitches(NamedTuple):
    """A kind of notice with a switch for each channel."""

    title: str
    help: str
    switches: list[BoundField]


class NoticeForm(forms.Form):
    """The notice settings. `chosen` are the person's current ones, and `staff` is whether they have a role."""

    def __init__(self, *args: Any, chosen: NoticeSettings, staff: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kinds = switched_for(staff=staff)
        for kind in self.kinds:
            for channel in CHANNELS.values():
                self.fields[f"{kind.name}.{channel.name}"] = forms.BooleanField(
                    label=": ".join((title_of(kind.name), say.text("channel", channel.title))),
                    required=False,
                    initial=wants(chosen, kind.name, channel.name),
                )
        hours = [("", "No summary"), *((str(hour), f"{hour:02}:00") for hour in range(24))]
        self.fields["digest_hour"] = forms.ChoiceField(
            label="Daily summary by email at",
            choices=hours,
            required=False,
            initial="" if chosen.digest_hour is None else str(chosen.digest_hour),
        )

    @property
    def rows(self) -> list[KindSwitches]:
        return [
            KindSwitches(
                title_of(kind.name),
                say.text("notice", kind.help),
                [self[f"{kind.name}.{channel}"] for channel in CHANNELS],
            )
            for kind in self.kinds
        ]

    @property
    def channels(self) -> list[str]:
        """Return the headings of the columns."""
        return [say.text("channel", channel.title) for channel in CHANNELS.values()]

    def choices(self) -> dict[str, bool]:
        """Return the switches of a valid form by `kind.channel`."""
        return {name: value for name, value in self.cleaned_data.items() if name != "digest_hour"}

    def digest_hour(self) -> int | None:
        """Return the hour of a valid form, or None for no summary."""
        hour = self.cleaned_data["digest_hour"]
        return int(hour) if hour else None
