"""The forms of the account page."""

from typing import Any

from django import forms
from django.http import HttpRequest

from accounts import actions
from accounts.models import ApiToken, User
from accounts.zones import ZoneSelect, zone_choices


class ProfileForm(forms.Form):
    display_name = forms.CharField(
        label="Name at the table",
        required=False,
        max_length=User._meta.get_field("display_name").max_length,
        help_text="What others call you. Empty: your username.",
    )
    time_zone = forms.ChoiceField(
        label="Time zone",
        widget=ZoneSelect({"data-zone": "offer"}),
        help_text="What times on the pages and in mails are told in, and when your quiet hours are.",
    )

    def __init__(self, data: Any = None, *, user: User) -> None:
        super().__init__(data, initial={"display_name": user.display_name, "time_zone": user.time_zone})
        zone = self.fields["time_zone"]
        assert isinstance(zone, forms.ChoiceField)
        zone.choices = zone_choices(user.time_zone)


class SignUpForm(forms.Form):
    """What signing up asks besides allauth's own questions (ACCOUNT_SIGNUP_FORM_CLASS)."""

    time_zone = forms.ChoiceField(
        label="Time zone",
        choices=zone_choices,
        initial="UTC",
        required=False,
        widget=ZoneSelect({"data-zone": "choose"}),
        help_text="Deadlines are told in it. You can change it later.",
    )

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth for the account just made; whoever does not choose keeps what a guest had chosen."""
        if zone := self.cleaned_data["time_zone"]:
            actions.choose_time_zone(user, zone)


class TokenForm(forms.Form):
    name = forms.CharField(
        label="Name of the token",
        max_length=ApiToken._meta.get_field("name").max_length,
        help_text="For you to tell them apart, like “my bot”.",
    )


class RestForm(forms.Form):
    """Quiet hours, and whether vacation is taken by itself; `actions.update_rest` has the last word."""

    quiet_from = forms.TimeField(label="From", required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M"))
    quiet_to = forms.TimeField(label="To", required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M"))
    auto_vacation = forms.BooleanField(
        label="Take a day of vacation instead of missing a turn", required=False, help_text="As long as you have days."
    )


class VacationForm(forms.Form):
    days = forms.IntegerField(label="Days", min_value=1, initial=7)
