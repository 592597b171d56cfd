"""The forms of the account page."""

from django import forms

from accounts.models import ApiToken, User
from accounts.zones import zone_choices


class ProfileForm(forms.Form):
    display_name = forms.CharField(
        label="Name at the table",
        required=False,
        max_length=User._meta.get_field("display_name").max_length,
        help_text="What others call you. Empty: your username.",
    )
    time_zone = forms.ChoiceField(
        label="Time zone",
        choices=zone_choices,
        widget=forms.Select({"data-zone": ""}),
        help_text="What times on the pages and in mails are told in, and when your quiet hours are.",
    )


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
