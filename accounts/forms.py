"""The forms of the account page and of the time-off page, and what our forms share with allauth's."""

from collections.abc import Iterator
from typing import Any

from allauth.core import context
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, validate_email
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html, format_html_join

from accounts import actions, invitations, queries
from accounts.avatars import AVATARS, picture
from accounts.models import ApiToken, SignUpInvitation, User
from accounts.names import DISPLAY_NAME_LENGTH, after_mute, is_guest_display_name, is_username
from accounts.zones import ZoneSelect, zone_choices
from common.readers_language import say
from mail.addresses import LONGEST_ADDRESS, validate_address


class ProfileForm(forms.Form):
    display_name = forms.CharField(
        label="Name at the table",
        required=False,
        max_length=User._meta.get_field("display_name").max_length,
    )
    avatar = forms.ChoiceField(
        label="Picture",
        required=False,  # for programs that send this form as it was before there were pictures
        widget=forms.RadioSelect,
        choices=lambda: [(name, format_html("{}{}", picture(name), title)) for name, title in AVATARS.items()],
    )
    time_zone = forms.ChoiceField(
        label="Time zone",
        widget=ZoneSelect({"data-zone": "offer"}),
        help_text="Times on pages and in emails are in this time zone, and so are your quiet hours.",
    )
    confirm = forms.ChoiceField(
        label="Ask before a card is played",
        required=False,  # as above
        choices=User.Confirm.choices,
        help_text="The first tap or click lifts a card; a key brings a question. Where turns last an hour at most, keys"
        " and clicks play at once.",
    )
    no_tips = forms.BooleanField(label="No tips during a game", required=False)

    def __init__(self, data: Any = None, *, user: User) -> None:
        initial = {name: getattr(user, name) for name in ("display_name", "time_zone", "confirm", "no_tips")}
        super().__init__(data, initial={**initial, "avatar": user.avatar_shown})
        self.fields["display_name"].help_text = format_html_join(" ", "{}", ([line] for line in _about_name(user)))
        _choose_from(self, user.time_zone)


def _about_name(user: User) -> Iterator[str]:
    """Yield what somebody should know before they choose the name that others see."""
    yield say.text("help", "Others see this name.")
    if user.neutral_name:
        yield say.text("help", "Leave it empty to use “{name}”, the name from staff.", name=user.neutral_name)
    else:
        yield say.text("help", "Leave it empty to go by your username, {name}.", name=user.username)
    address = reverse("person", args=[user.username])
    yield say.text("help", "Your public page is {address}.", address=address)
    if user.muted_until is not None and user.muted(timezone.now()):
        yield say.text("help", "Staff have muted you.")
        yield after_mute(user.muted_until)


class SignUpQuestions(forms.Form):
    """The fields of the sign-up form besides allauth's own. allauth's form inherits it (ACCOUNT_SIGNUP_FORM_CLASS)."""

    time_zone = forms.ChoiceField(
        label="Time zone",
        required=False,
        widget=ZoneSelect({"data-zone": "offer"}),
        help_text="Deadlines are shown in this time zone. You can change it later.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        user = context.request.user
        stored = user.time_zone if user.is_authenticated else "UTC"
        _choose_from(self, stored)
        self.fields["time_zone"].initial = stored
        if stored == "UTC" and not self.is_bound:  # not chosen yet: let the page pick the browser's zone
            self.fields["time_zone"].widget.attrs["data-zone"] = "choose"
        seen = say.text("help", "Others see this name. You can add a display name later.")
        if user.is_authenticated and user.display_name and not is_guest_display_name(user.display_name):
            seen = escape(say.text("help", "Others still see you as {name}.", name=user.name))
            self.fields["username"].initial = user.display_name if is_username(user.display_name) else ""
        self.fields["username"].help_text = seen

    def signup(self, request: HttpRequest, user: User) -> None:
        """Set the chosen time zone. allauth calls this for the new account. Without a choice a guest's zone stays."""
        if zone := self.cleaned_data["time_zone"]:
            actions.choose_time_zone(user=user, zone=zone, now=timezone.now())


class GuestNameForm(forms.Form):
    """Asks a visitor who sits down what to be called. `actions.create_guest` checks the name."""

    name = forms.CharField(
        label="Your name",
        max_length=DISPLAY_NAME_LENGTH,
        help_text="Everyone at the table sees it.",
        error_messages={"required": "Enter the name that others will see."},
        widget=forms.TextInput({"autocomplete": "nickname", "autocapitalize": "words", "spellcheck": "false"}),
    )

    def refuse(self, why: ValidationError) -> None:
        """Show why the name was refused, at the field, and give it the focus."""
        if self.is_valid():  # otherwise the form says so itself
            self.add_error("name", why.messages)
        self.fields["name"].widget.attrs["autofocus"] = True


class HostNameForm(GuestNameForm):
    """Asks a visitor who makes a table for a name. If it is left empty, the site makes one up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["name"]
        field.required = False
        field.label = "Your name (optional)"
        field.help_text = (
            "Everyone with the invitation or at the table sees it. If you leave it empty, we make up a name."
        )


def shorten_password_help(form: Any) -> None:
    """Say what a new password needs in one line. The validators' own texts are a list of what it must not be."""
    if "password1" in form.fields:
        form.fields["password1"].help_text = say.text("help", "8 characters or more, nothing common.")


class SentenceCase:
    """Writes the labels of an allauth form like ours: only the first word has a capital letter."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.label = field.widget.attrs["placeholder"] = str(field.label).capitalize()
        shorten_password_help(self)


def offer_to_revoke_tokens(form: Any) -> None:
    """Ask people who get their first second factor by this form of allauth whether to revoke their API tokens."""
    if not queries.has_second_factor(form.user) and queries.tokens_of(form.user).exists():
        form.fields["revoke_tokens"] = revoke_tokens_field()


def revoke_tokens_field() -> forms.BooleanField:
    """Return the field, ticked in advance, that revokes the API tokens together with another change."""
    return forms.BooleanField(
        label="Revoke my API tokens",
        required=False,
        initial=True,
        help_text="Recommended if someone else may know your password. Programs that play for you will need new"
        " tokens.",
    )


class ChecksAddress:
    """Lets the field `email` of an allauth form accept only addresses that this site can send to and store.

    Our validator replaces Django's, which it calls too, so that a wrong address gets one error and not two.
    """

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        email = self.fields["email"]
        email.validators = [validate_address if check is validate_email else check for check in email.validators]
        limit_length(email, LONGEST_ADDRESS)


def limit_length(field: forms.Field, most: int) -> None:
    """Refuse more than `most` characters in a field that a library made without a limit."""
    field.validators.append(MaxLengthValidator(most))
    field.widget.attrs["maxlength"] = str(most)


def _choose_from(form: forms.Form, stored: str) -> None:
    """Offer all time zones, and the `stored` one even if its name is outdated."""
    zone = form.fields["time_zone"]
    assert isinstance(zone, forms.ChoiceField)
    zone.choices = zone_choices(stored)


class TokenForm(forms.Form):
    name = forms.CharField(
        label="Name of the token",
        max_length=ApiToken._meta.get_field("name").max_length,
        help_text="For example “my bot”.",
    )
    scope = forms.TypedChoiceField(
        label="What it may do",
        required=False,
        empty_value=ApiToken.Scope.PLAY,  # for programs that send this form as it was before there were scopes
        choices=ApiToken.Scope.choices,
        initial=ApiToken.Scope.PLAY,
        widget=forms.RadioSelect,
    )
    days = forms.TypedChoiceField(
        label="It works for",
        coerce=int,
        empty_value=None,
        required=False,
        choices=[("30", "30 days"), ("90", "90 days"), ("365", "A year"), ("", "As long as you do not revoke it")],
        initial="365",
    )


class InvitationForm(forms.Form):
    note = forms.CharField(
        label="Who it is for",
        max_length=SignUpInvitation._meta.get_field("note").max_length,
        required=False,
        help_text="A note for you. Moderators can read it, too; the person you invite cannot.",
    )
    days = forms.TypedChoiceField(
        label="It works for",
        coerce=int,
        choices=lambda: [(days, say.plural("choice", "{n} day", "{n} days", days)) for days in invitations.DAYS],
        initial=7,
    )


class TimeOffForm(forms.Form):
    """Quiet hours, who sees them, and automatic vacation. `actions.update_time_off` validates them."""

    quiet_from = forms.TimeField(label="From", required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M"))
    quiet_to = forms.TimeField(label="To", required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M"))
    shows_sleep = forms.BooleanField(
        label="Show the others at my tables when I am asleep",
        required=False,
    )
    auto_vacation = forms.BooleanField(
        label="Use a vacation day rather than miss a turn",
        required=False,
    )


class VacationForm(forms.Form):
    days = forms.IntegerField(label="Days", min_value=1, initial=7)
