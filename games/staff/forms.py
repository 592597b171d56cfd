"""The forms of staff acts. Every act asks for a reason; some ask for more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, cast

from django import forms

from accounts.names import DISPLAY_NAME_LENGTH
from games.clocks.pausing import LONGEST_EXTENSION
from games.models import Appeal, Case
from games.models.announcement import LONGEST as LONGEST_ANNOUNCEMENT
from games.models.moderation import (
    ADMIN,
    LONGEST_DAYS,
    MODERATOR,
    REASON_LENGTH,
    SAID_LENGTH,
    SHORTEST_REASON,
    SHORTEST_SAID,
    SHORTEST_WORDS,
)
from games.refusals import Denied
from mail.addresses import LONGEST_ADDRESS

CHOOSE_FOR_THE_SEAT: Final = "The game has started. Choose what happens to the seat."
LONGEST_MINUTES: Final = LONGEST_EXTENSION // timedelta(minutes=1)


class Outdated(Denied):
    """A form was filled in from values that have changed since.

    `known` are the values of its hidden fields, by name, with which it can be sent again.
    """

    def __init__(self, message: str, known: Mapping[str, str]) -> None:
        super().__init__("stale", "{change} To go ahead all the same, confirm again.", change=message)
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


class NoteForm(ReasonForm):
    """The form of a note, which is stored as the reason of the act."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].label = "Note"
        self.fields["reason"].help_text = "Only staff read it. Stays in the audit log permanently."


class ColleagueForm(ReasonForm):
    """The form to hand a case over. `colleagues` are the numbers and names of the staff members who can take it."""

    colleague = forms.TypedChoiceField(
        coerce=int,
        widget=forms.RadioSelect,
        error_messages={"invalid_choice": "This colleague works on the case already, or may not work on it any more."},
    )

    def __init__(self, *args: Any, colleagues: Sequence[tuple[int, str]] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast("forms.TypedChoiceField", self.fields["colleague"]).choices = colleagues


class SaidForm(ReasonForm):
    """The form of an act at a table with which staff can say something to its players."""

    said = forms.CharField(
        label="Say to the players",
        required=False,
        min_length=SHORTEST_SAID,
        max_length=SAID_LENGTH,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        help_text="Optional. Everyone who sees the table can read it.",
    )


class SayForm(SaidForm):
    """The form to say something to a table."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["said"].required = True
        self.fields["said"].help_text = "Everyone who sees the table can read it."


class SeatForm(ReasonForm):
    """The form of an act on one seat, which was chosen on the page before.

    `owner` is the id of the seat's owner on that page, 0 for a bot. The act is refused if the seat has changed hands.
    """

    seat = forms.IntegerField(widget=forms.HiddenInput)
    owner = forms.IntegerField(required=False, widget=forms.HiddenInput)


class RemoveForm(SaidForm, SeatForm):
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


class NewAccountForm(ReasonForm):
    username = forms.CharField(max_length=30)
    email = forms.EmailField(label="Email address", max_length=LONGEST_ADDRESS)


class AnnouncementForm(ReasonForm):
    text = forms.CharField(
        label="Text",
        max_length=LONGEST_ANNOUNCEMENT,
        widget=forms.TextInput(attrs={"size": 80}),
        help_text="One line of plain text, shown on all pages. Addresses do not become links.",
    )
    until = forms.DateTimeField(
        label="End",
        required=False,
        widget=forms.DateTimeInput({"type": "datetime-local"}, "%Y-%m-%dT%H:%M"),
        help_text="In your time zone. Without an end it is shown until staff end it.",
    )


class MoveSeatForm(SeatForm):
    username = forms.CharField(label="New owner (username)", max_length=150)


class RoundForm(SaidForm):
    """The form of an act on the current round. `deal` is its number: the act is refused if another one is played."""

    deal = forms.IntegerField(required=False, widget=forms.HiddenInput)


class TimeForm(ReasonForm):
    """The form of an act that gives the current turn more time.

    The hidden fields say whose turn its page showed: the index of the seat, and the id of its owner, 0 for a bot.
    """

    seat = forms.IntegerField(required=False, widget=forms.HiddenInput)
    owner = forms.IntegerField(required=False, widget=forms.HiddenInput)
    amount = forms.IntegerField(label="How much", min_value=1, max_value=LONGEST_MINUTES, initial=1)
    unit = forms.ChoiceField(
        choices=[(1, "minutes"), (60, "hours"), (24 * 60, "days")],
        initial=60,
        required=False,
        help_text=f"At most {LONGEST_MINUTES // (24 * 60)} days.",
    )

    def clean(self) -> dict[str, Any]:
        """Return the time in minutes instead of its two fields.

        :raises ValidationError: it is longer than `LONGEST_MINUTES`.
        """
        values = dict(self.cleaned_data)
        values["minutes"] = values.pop("amount", 0) * int(values.pop("unit", "") or 1)
        if values["minutes"] > LONGEST_MINUTES:
            raise forms.ValidationError(f"Give at most {LONGEST_MINUTES // (24 * 60)} days.")
        return values


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


class CloseForm(OutcomeForm):
    """The form to close a case, and to warn, mute or suspend its person at once, for the same reason."""

    also = forms.ChoiceField(
        choices=[("", "Nothing more"), ("warn", "Warn"), ("mute", "Mute"), ("suspend", "Suspend")],
        required=False,
        widget=forms.RadioSelect,
        help_text="Whom you warn or suspend reads the reason word for word. A mute removes the name at the table.",
    )
    days = forms.IntegerField(
        label="Days of a mute or suspension", min_value=1, max_value=LONGEST_DAYS, initial=7, required=False
    )

    def __init__(self, *args: Any, person: str, **kwargs: Any) -> None:
        """Make the form.

        :param person: the name of the person whom the case is about.
        """
        super().__init__(*args, **kwargs)
        self.fields["also"].label = f"Do to {person}"  # so that nobody takes the reporter for this person


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
