"""The form of the notice settings: a switch for each group and channel, and the hour of the daily summary."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from django import forms
from django.forms import BoundField

from accounts.models import User
from common.readers_language import say
from games.models.notices import NoticeSettings
from games.notices.kinds import DIGEST, GROUPS, row_title, wants
from mail.channels import CHANNELS, EMAIL

HOUR: Final = "digest_hour"


class Row(NamedTuple):
    """A group of kinds, with a switch for each channel that reaches the person. The summary has none."""

    title: str
    help: str
    switches: list[BoundField]


class NoticeForm(forms.Form):
    """The notice settings of this person. `chosen` are the current ones."""

    def __init__(self, *args: Any, chosen: NoticeSettings, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._channels = [channel for channel in CHANNELS.values() if channel.reaches(user)]
        by_mail = EMAIL in self._channels
        self._groups = [
            group
            for group in GROUPS.values()
            if (user.is_staff or not group.for_staff) and (by_mail or group.name != DIGEST)
        ]
        for group in self._groups:
            for channel in self._channels if group.name != DIGEST else ():
                self.fields[f"{group.name}.{channel.name}"] = forms.BooleanField(
                    label=": ".join((row_title(group.name), say.text("channel", channel.title))),
                    required=False,
                    initial=wants(chosen, group.name, channel.name),
                )
        if by_mail:
            self.fields[HOUR] = forms.ChoiceField(
                label="Daily summary by email at",
                choices=[("", "Off"), *((str(hour), f"{hour:02}:00") for hour in range(24))],
                required=False,
                initial="" if chosen.digest_hour is None else str(chosen.digest_hour),
            )

    @property
    def channels(self) -> list[str]:
        """Return the headings of the columns."""
        return [say.text("channel", channel.title) for channel in self._channels]

    @property
    def rows(self) -> list[Row]:
        return [
            Row(
                row_title(group.name),
                say.text("notice", group.help),
                [self[f"{group.name}.{channel.name}"] for channel in self._channels] if group.name != DIGEST else [],
            )
            for group in self._groups
        ]

    def choices(self) -> dict[str, bool]:
        """Return the switches of a valid form by `group.channel`."""
        return {name: value for name, value in self.cleaned_data.items() if name != HOUR}

    def digest_hour(self) -> int | None:
        """Return the hour of a valid form, or None for no summary."""
        hour = self.cleaned_data.get(HOUR)
        return int(hour) if hour else None
