"""The forms of staff acts. Every act asks for a reason; some ask for more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django import forms

from accounts.names import DISPLAY_NAME_LENGTH
from games.clocks.pausing import LONGEST_EXTENSION
from games.models import Appeal, Case
from games.models.moderation import (
    ADMIN,
    LONGEST_DAYS,
    MODERATOR,
    REASON_LENGTH,
    SHORTEST_REASON,
    SHORTEST_WORDS,
)
from games.refusals import Denied

CHOOSE_FOR_THE_SEAT: Final = "The game has started. Choose what happens to the seat."
LONGEST_MINUTES: Final = LONGEST_EXTENSION // timedelta(minutes=1)


class Outdated(Denied):
    """A form was filled in from values that have changed since.

    `known` are the values of its hidden fields, by name, with which it can be sent again.
    """

    def __init__(self, message: str, known: Mapping[str, str]) -> None:
        super().__init__("stale", f"{message} To go ahead all the same, confirm again.")
        self.known = known


class ReasonForm(forms.Form):
    """Asks for a reason. Subclasses add fields, which come before the reason."""

    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "cols": 60}),
        min_length=SHORTEST_REASON,
        max_length=REASON_LENGTH,
        help_text="Stays in the audit log permanently.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"] = self.fields.pop("reason")  # moved to the end

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of a valid form for the function that performs the act."""
        return dict(self.cleaned_data)


class SeatForm(ReasonForm):
    """The form of an act on one seat, which was chosen on the page before.

    `owner` is the id of the seat's owner on that page, 0 for a bot. The act is refused if the seat has changed hands.
    """

    seat = forms.IntegerField(widget=forms.HiddenInput)
    owner = forms.IntegerField(required=False, widget=forms.HiddenInput)


class RemoveForm(SeatForm):
    """The form to remove a player. It asks what happens to the seat only if the game has started.

    `known_winner` is who wins if the hand is set aside, as its page said, or empty.
    """

    known_winner = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    instead = forms.ChoiceField(
        label="What happens to the seat",
        choices=[
            ("bot", "A bot takes over the seat and the hand"),
            ("aside", "The seat is out and its hand is set aside"),
        ],
        widget=forms.RadioSelect,
        error_messages={"required": CHOOSE_FOR_THE_SEAT},
    )

    def __init__(self, *args: Any, started: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not started:
            del self.fields["instead"]

    def arguments(self) -> dict[str, Any]:
        more = super().arguments()
        return more | {"bot": more.pop("instead") == "bot" if "instead" in more else None}


class MoveSeatForm(SeatForm):
    username = forms.CharField(label="New owner (username)", max_length=150)


class RoundForm(ReasonForm):
    """The form of an act on the current round. `deal` is its number: the act is refused if another one is played."""

    deal = forms.IntegerField(required=False, widget=forms.HiddenInput)


class MinutesForm(ReasonForm):
    """The form of an act on the current turn.

    The hidden fields say whose turn its page showed: the index of the seat, and the id of its owner, 0 for a bot.
    """

    seat = forms.IntegerField(required=False, widget=forms.HiddenInput)
    owner = forms.IntegerField(required=False, widget=forms.HiddenInput)
    minutes = forms.IntegerField(label="Minutes", min_value=1, max_value=LONGEST_MINUTES, initial=60)


class DaysForm(ReasonForm):
    days = forms.IntegerField(label="Days", min_value=1, max_value=LONGEST_DAYS, initial=7)


class NamesForm(ReasonForm):
    """The form to correct names. The hidden fields say which names its page showed."""

    known_username = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    known_display_name = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    username = forms.CharField(max_length=30)
    display_name = forms.CharField(
        label="Name at the table",
        max_length=DISPLAY_NAME_LENGTH,
        required=False,
        help_text="Leave empty to show their username, or the neutral name in its place.",
    )


class RoleForm(ReasonForm):
    role = forms.ChoiceField(
        choices=[("", "None: a player like any other"), *((role, role.capitalize()) for role in (MODERATOR, ADMIN))],
        required=False,
        widget=forms.RadioSelect,
    )


class OutcomeForm(ReasonForm):
    outcome = forms.ChoiceField(choices=Case.Outcome.choices, widget=forms.RadioSelect)
    answer = forms.CharField(
        required=False,
        max_length=REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        help_text="Optional. Everyone who reported can read it.",
    )


class AppealForm(ReasonForm):
    decision = forms.ChoiceField(
        choices=[(one.value, one.label) for one in (Appeal.Answer.UPHELD, Appeal.Answer.LIFTED)],
        widget=forms.RadioSelect,
    )
    answer = forms.CharField(
        min_length=SHORTEST_WORDS,
        max_length=REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        help_text="The person can read this.",
    )

    def arguments(self) -> dict[str, Any]:
        more = super().arguments()
        return more | {"lift": more.pop("decision") == Appeal.Answer.LIFTED}
