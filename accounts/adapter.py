"""allauth's questions to this site."""

from typing import Any, Final

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.app_settings import EmailVerificationMethod
from allauth.account.models import EmailAddress
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from accounts import actions, browsers, guards, mails, queries, tries
from accounts.addresses import canonical
from accounts.limits import CONFIRMATIONS, TooManyTries
from accounts.models import User
from accounts.origin import address_of, hashed_identity
from accounts.tries import Key

LEFT_GUEST: Final = "left_guest"
"""The session's key for the guest whose browser has logged in to an account: the number of that user."""
LINKS: Final = "links"
"""The session's key for the invitation keys that this browser has opened."""

CONFIRMATION_FOLLOWS: Final = "account/messages/email_confirmation_sent.txt"
"""allauth's name for the message that a mail to confirm an address follows."""
CONFIRMATION_HELD: Final = "account/messages/email_confirmation_held.txt"
HELD: Final = "confirmation_held"
"""The session's key for a mail to confirm an address that was not sent: too many were asked for by the network."""
NOT_BY_THIS_ADDRESS: Final = (
    "No account here has this email address and password. An address logs you in once you have confirmed it; your"
    " username always does."
)


def links_in(session: SessionBase) -> list[str]:
    """Return the invitation keys that were opened in this session."""
    keys: list[str] = session.get(LINKS, [])
    return keys


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """What a refused form says; of an address and its password also what else there is to try: see the backends."""
        if code == "email_password_mismatch" and app_settings.EMAIL_VERIFICATION != EmailVerificationMethod.NONE:
            return ValidationError(NOT_BY_THIS_ADDRESS, code=code)
        error: ValidationError = super().validation_error(code, *args)
        return error

    def new_user(self, request: HttpRequest) -> User:
        """Who signs up: the guest of this browser, who so keeps the games, or somebody new."""
        user: User | AnonymousUser = request.user
        if user.is_authenticated and user.is_guest:
            return user
        return User()

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return a keyed hash of the network address, so that allauth stores and mails no address."""
        return hashed_identity("address", address_of(request))

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Check a username or mail address and its password; only a wrong one counts.

        :raises TooManyTries:
        """
        login = credentials.get("email") or credentials.get("username") or ""
        with tries.trying(guards.log_in(request, login), timezone.now()) as one:
            user: User | None = super().authenticate(request, **credentials)
            if user is None:
                one.count()
            else:
                actions.renew_hash(user=user, password=credentials["password"])
        return user

    def reauthenticate(self, user: User, password: str) -> bool:
        """Check the password of somebody who is logged in, apart from tries to log in by their name.

        :raises TooManyTries:
        """
        with tries.trying(guards.password_again(self.request, user), timezone.now()) as one:
            right = user.check_password(password)
            if not right:
                one.count()
        return right

    def set_password(self, user: User, password: str) -> None:
        """Set a new password and forget earlier wrong ones, so that its owner can log in at once."""
        user.set_password(password)
        user.save(update_fields=["password"])  # nothing else: staff may be writing to the same row
        tries.forgive(guards.names_of(user))

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Refuse the name of somebody else at the table too. A guest may sign up by the name already gone by."""
        user = self.request.user
        if not shallow and user.is_authenticated and user.is_guest and user.muted(timezone.now()):
            until = date_format(timezone.localtime(user.muted_until), "j F Y")
            raise ValidationError(
                f"You can choose a name again from {until}: staff have ruled it out until then. Your games stay yours"
                " in this browser: sign up then to keep them.",
                code="muted",
            )
        cleaned: str = super().clean_username(username, shallow=shallow)
        if not shallow and (clash := queries.name_clash(cleaned, but=self.new_user(self.request))):
            raise ValidationError(clash, code="name_taken")
        return cleaned

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Save what the form says and nothing else of a guest: staff may be writing to the same row.

        :raises NoGuest: if the guest has signed up since, in another request.
        """
        fresh = user.pk is None
        if not fresh:
            user = actions.lock_guest(user.pk)
            actions.revoke_tokens(user=user)  # made by whoever had the browser: no password was asked
        actions.promote_guest(user=user)
        saved: User = super().save_user(request, user, form, commit=commit and fresh)
        if commit and not fresh:
            saved.save(update_fields=["username", "email", "password", "is_guest", "display_name"])
        return saved

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Queue a mail about an account; every mail of allauth and of `accounts` goes through here.

        Only a row is written, in the caller's transaction: the outbox of `games` sends it within seconds, holds it
        after a restore, and tries again while the mail server is away. So nothing here can fail because of mail.

        `template_prefix` is a name in `accounts.mails.KINDS`, which has the words; a new notice is a new row there.
        `context` must have `user`, the saved account that the mail is about, and the facts that the kind's sentence
        names; the rest is not stored. It must hold no token: links are made when the mail is sent, from `SITE_URL`.

        Notices go only to addresses that are confirmed as this user's. For one that has just been removed, pass what it
        was as `context["confirmed"]`.

        :raises KeyError: for a kind that is not in `KINDS`, or a fact that is missing.
        :raises TooManyTries: for a kind that can be asked for, if this user has asked too often.
        """
        mails.queue(
            kind=template_prefix,
            address=email,
            user=context.get("user"),
            confirmed=context.get("confirmed"),
            asked_from=context.get("asked_from", ""),
            facts=context,
            now=timezone.now(),
        )

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """Queue a notice of a change to this account, to all its confirmed addresses, whatever address is given.

        Unlike allauth's own it tells no network address and no browser: none is stored here.
        """
        removed = str((context or {}).get("deleted_email", ""))  # told by `apps.address_removed`, if it was confirmed
        mails.tell(kind=template_prefix, user=user, facts=context, but=removed, now=timezone.now())

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Queue the mail that asks to confirm an address.

        A person who asks too often while logged in is told so; logging in and signing up go on without another mail.

        :raises TooManyTries:
        """
        address = emailconfirmation.email_address
        try:
            self.queue_confirmation(request, address)
        except TooManyTries as many:
            if not signup and request.user.pk == address.user_id:
                raise
            if many.limit is CONFIRMATIONS:
                request.session[HELD] = True

    def queue_confirmation(self, request: HttpRequest, address: EmailAddress) -> None:
        """Queue such a mail, and count it for the network that it is asked from.

        :raises TooManyTries:
        """
        keys = Key.of_address(address_of(request), CONFIRMATIONS)
        asked_from = keys[-1].who
        with tries.trying(keys, timezone.now(), durable=False) as one:
            self.send_mail(mails.CONFIRM, address.email, {"user": address.user, "asked_from": asked_from})
            one.count()
        request.session.pop(HELD, None)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Confirm an address; False if another account has just confirmed it."""
        try:
            with transaction.atomic():
                actions.lock_person(email_address.user_id)
                return bool(super().confirm_email(request, email_address))
        except IntegrityError:
            taken = "account/messages/email_confirmation_failed.txt"
            self.add_message(request, messages.ERROR, taken, {"email": email_address.email})
            return False

    def add_message(self, request: HttpRequest, level: int, *args: Any, **kwargs: Any) -> None:
        """Give the message that a confirmation mail follows, or cannot be sent now, a button that sends it again."""
        if CONFIRMATION_FOLLOWS in (*args, *kwargs.values()):
            kwargs["extra_tags"] = "confirm-again"
            if request.session.get(HELD):
                args = tuple(CONFIRMATION_HELD if arg == CONFIRMATION_FOLLOWS else arg for arg in args)
                level = messages.WARNING
        super().add_message(request, level, *args, **kwargs)

    def is_safe_url(self, url: str) -> bool:
        """Return True if a form or a link may lead there. A URL that cannot be parsed is not safe."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:  # brackets that hold no IPv6 address
            return False

    def clean_email(self, email: str) -> str:
        """Return the one spelling under which this address is stored and counted."""
        return canonical(email)

    def login(self, request: HttpRequest, user: User) -> None:
        """Log in, and keep in mind which guest this browser was, and its links: logging in empties another session."""
        before: User | AnonymousUser = getattr(request, "guest", request.user)
        guest = before.pk if before.is_authenticated and before.is_guest and before.pk != user.pk else None
        links = request.session.get(LINKS)
        super().login(request, user)
        if guest is not None:
            request.session[LEFT_GUEST] = guest
            if links:
                request.session[LINKS] = links

    def post_login(self, request: HttpRequest, user: User, **login: Any) -> HttpResponse:
        """Answer a complete log-in, and let the browser be known to its owner from now on."""
        response: HttpResponse = super().post_login(request, user, **login)
        browsers.remember(request, response, user)
        return response

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """To the question whether the guest's games come along, or on as usual."""
        if LEFT_GUEST in request.session:
            return reverse("move-seats")
        url: str = super().get_login_redirect_url(request)
        return url
