"""The forms of the account page."""

from zoneinfo import available_timezones

from django import forms

from accounts.models import ApiToken, User


class ProfileForm(forms.Form):
    display_name = forms.CharField(
        label="Name at the table",
        required=False,
        max_length=User._meta.get_field("display_name").max_length,
        help_text="What others call you. Empty: your username.",
    )
    time_zone = forms.ChoiceField(
        label="Time zone", choices=lambda: [(zone, zone) for zone in sorted(available_timezones())]
    )


class TokenForm(forms.Form):
    name = forms.CharField(
        label="Name of the token",
        max_length=ApiToken._meta.get_field("name").max_length,
        help_text="For you to tell them apart, like “my bot”.",
    )
