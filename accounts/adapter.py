"""What this site changes in allauth: log-in, sign-up, mails and confirmations."""

from typing import Any, Final, cast

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.app_settings import EmailVerificationMethod
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse, ReauthenticationRequired
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import urlencode

from accounts import actions, invitations, known_browsers, log_ins, mails, queries, tries, try_keys
from accounts.allauth_internals import clear_login
from accounts.hashers import normalized
from accounts.models import User
from accounts.names import after_mute, validate_display_name
from accounts.origin import address_of, hashed_identity
from accounts.passkeys import are_possible
from accounts.tries import Key
from common.limits import CONFIRMATIONS, TooManyTries
from common.readers_language import say
from common.say import N_
from mail.addresses import canonical

LEFT_GUEST: Final = "left_guest"
"""The session key for the number of the guest that this browser was before it logged in to an account."""
LINKS: Final = "links"
"""The session key for the invitations that this browser has opened."""

PENDING_SIGN_UP: Final = "openid_sign_up"
"""The session key for somebody from the OpenID provider who signs up, until the form is sent or somebody logs in."""
CONFIRMATION_FOLLOWS: Final = "account/messages/email_confirmation_sent.txt"
"""allauth's template for the message that a confirmation mail has been sent."""
CONFIRMATION_HELD: Final = "account/messages/email_confirmation_held.txt"
HELD: Final = "confirmation_held"
"""The session key that says: a confirmation mail was not sent, because this network asked for too many."""
AFTER_CONFIRMATION: Final = "after_confirmation"
"""The session key for the page that somebody came from who has signed up and must confirm the address to log in."""
BEGUN_WITH: Final = "log_in_begun_with"
"""The session key for the hash that an incomplete log-in began with (`User.get_session_auth_hash`)."""
OVERTAKEN: Final = N_(
    "After you entered your password, the account got a new password or a second factor, or was logged out everywhere."
    " Log in again."
)
DELETED: Final = N_("This account has just been deleted, as you asked for, so you cannot log in to it any more.")
KEPT: Final = N_("Welcome back. By logging in you have cancelled the deletion of your account.")
BY_PASSWORD, BY_CODE, BY_PASSKEY = "reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate:webauthn"
WAYS: Final = {BY_PASSWORD: N_("Use your password"), BY_CODE: N_("Use a code"), BY_PASSKEY: N_("Use a passkey")}
"""allauth's names of the ways to confirm a change, and what links to their pages say."""
NOT_BY_THIS_ADDRESS: Final = N_(
    "No account here has this email address and password. An address logs you in once you have confirmed it; your"
    " username always does."
)


def links_in(session: SessionBase) -> list[str]:
    """Return the keys of the invitations that this session has opened."""
    keys: list[str] = session.get(LINKS, [])
    return keys


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """Return the error of a refused form. For a wrong address or password it suggests the username, too."""
        if code == "email_password_mismatch" and app_settings.EMAIL_VERIFICATION != EmailVerificationMethod.NONE:
            return ValidationError(say.text("error", NOT_BY_THIS_ADDRESS), code=code)
        error: ValidationError = super().validation_error(code, *args)
        return error

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether this visitor or guest may make an account: anybody, or somebody with an invitation."""
        return bool(settings.REGISTRATION == "open" or invitations.invitation_of(request))

    def new_user(self, request: HttpRequest) -> User:
        """Return the user who signs up: the guest of this browser, who keeps their games, or a new one."""
        user: User | AnonymousUser = request.user
        if user.is_authenticated and user.is_guest:
            return user
        return User()

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return a keyed hash of the network address, so that allauth stores and mails no address."""
        return hashed_identity("address", address_of(request))

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Return the user whose username or mail address and password these are, or None. Only failures count.

        :raises TooManyTries: too many wrong passwords.
        """
        login = credentials.get("email") or credentials.get("username") or ""
        with tries.begin(try_keys.log_in(request, login), timezone.now()) as current:
            user: User | None = super().authenticate(request, **credentials)
            if user is None:
                current.count()
            else:
                actions.renew_hash(user=user, password=credentials["password"])
        return user

    def reauthenticate(self, user: User, password: str) -> bool:
        """Return True if this is the password of this logged-in user. Counted apart from tries to log in.

        :raises TooManyTries: too many wrong passwords.
        """
        with tries.begin(try_keys.password_again(self.request, user), timezone.now()) as current:
            right = user.check_password(password)
            if not right:
                current.count()
        return right

    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, Any]]:
        """Return how this user can confirm a change, the best way first.

        With a second factor only by a passkey or a code, otherwise by the password. Without both, it is by the identity
        at the OpenID provider.
        """
        offered = {method["id"]: method for method in super().get_reauthentication_methods(user)}
        if not (user.is_authenticated and queries.has_second_factor(user)):
            ways = [BY_PASSWORD]
        elif are_possible():
            ways = [BY_PASSKEY, BY_CODE]
        else:
            ways = [BY_CODE]
        methods = [offered[way] | {"description": say.text("button", WAYS[way])} for way in ways if way in offered]
        if not methods and isinstance(user, User) and not user.is_guest and queries.identity_here(user) is not None:
            use = say.text("button", "Use {provider}", provider=queries.provider_name())
            methods = [{"id": "openid_confirm", "description": use, "url": reverse("openid_confirm")}]
        return methods

    def is_reauthentication_required(self, *, app: str, **more: Any) -> bool:
        """Return whether pages of an app ask for a confirmation. Called before each that does.

        :raises ReauthenticationRequired: the user has nothing to show but an identity at an OpenID provider, and has
            not shown it lately. allauth would ask nothing of them.
        """
        required: bool = super().is_reauthentication_required(app=app, **more)
        if required and log_ins.lacks_confirmation(self.request):
            raise ReauthenticationRequired
        return required

    def set_password(self, user: User, password: str) -> None:
        """Set a new password, and delete the count of wrong ones so that the owner can log in at once."""
        user.set_password(password)
        user.save(update_fields=["password"])  # only this field: staff may be writing to the same row
        tries.clear(try_keys.names_of(user))

    def clean_password(self, password: str, user: User | None = None) -> str:
        """Return the password as it was typed. Its normalized form is validated, because that is the one hashed."""
        super().clean_password(normalized(password), user)
        return password

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Return the username as it was typed. It is stored in lowercase, and others see it as typed.

        Refuse also names that look like another person's name at the table. A guest may keep their own name.

        :raises ValidationError: the username is not allowed or not free, or staff have muted this guest.
        """
        user = self.request.user
        if not shallow and user.is_authenticated and user.is_guest and user.muted(timezone.now()):
            stay = say.text("error", "Your games stay in this browser: sign up then to keep them.")
            raise ValidationError(" ".join([after_mute(user.muted_until), stay]), code="muted")
        cleaned: str = super().clean_username(username, shallow=shallow)
        validate_display_name(cleaned)
        if not shallow and (clash := queries.name_clash(cleaned, except_for=self.new_user(self.request))):
            raise ValidationError(clash, code="name_taken")
        return cleaned

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """Save the new user, or only the fields of the form if a guest signs up.

        :raises NoGuest: the guest has signed up in another request meanwhile.
        """
        fresh = user.pk is None
        if not fresh:
            user = actions.lock_guest(user.pk)
            actions.revoke_tokens(user=user)  # they were made without a password
        actions.promote_guest(user=user)
        actions.keep_capitals(user=user, typed=form.cleaned_data["username"])
        saved: User = super().save_user(request, user, form, commit=commit and fresh)
        if commit and not fresh:
            # Only these fields: staff may be writing to the same row.
            saved.save(
                update_fields=[
                    "username",
                    "email",
                    "password",
                    "is_guest",
                    "display_name",
                    "former_names",
                    "deletes_at",
                ]
            )
        return saved

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Queue a mail about an account. allauth calls this for each of its mails.

        Only a row is written, in the caller's transaction, so a mail server that is down does not matter here. The
        outbox (`mail`) sends it within seconds.

        `template_prefix` is a name in `accounts.mails.KINDS`. `context` must have `user`, the saved account that the
        mail is about, and the facts that the kind's sentence needs. The rest is not stored: links with tokens are made
        when the mail is sent.

        Notices go only to confirmed addresses of this user. For an address that was just removed, pass whether it was
        confirmed as `context["confirmed"]`.

        :raises KeyError: the kind is not in `KINDS`, or a fact is missing.
        :raises TooManyTries: this user has asked for too many mails of this kind.
        """
        mails.queue(
            kind=template_prefix,
            address=email,
            user=context.get("user"),
            confirmed=context.get("confirmed"),
            facts=context,
            now=timezone.now(),
        )

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """Queue a notice of a change to this account, to all its confirmed addresses. `email` is ignored.

        Unlike allauth's own mails it names no network address and no browser.
        """
        removed = str((context or {}).get("deleted_email", ""))  # `receivers.address_removed` notifies this one
        mails.notify(kind=template_prefix, user=user, facts=context, except_for=removed, now=timezone.now())

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Queue the mail that asks to confirm an address.

        Logging in and signing up continue without another mail if the limit is reached.

        :raises TooManyTries: the person is logged in and has asked for too many.
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
        """Queue the mail that asks to confirm an address, and count it for the network of the request.

        :raises TooManyTries: this network or the person has asked for too many.
        """
        with transaction.atomic():
            # Counted last: queuing locks the person, and in another order two requests could deadlock.
            self.send_mail(mails.CONFIRM, address.email, {"user": address.user})
            tries.count([Key.of(CONFIRMATIONS, address_of(request))], timezone.now())
        request.session.pop(HELD, None)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Confirm an address and tell those confirmed before. Return False if another account has just confirmed it.

        :raises Http404: after the request began the address was removed, or its account was closed or got a new
            password.
        """
        try:
            with transaction.atomic():
                actions.lock_unchanged(email_address.user)
                if not EmailAddress.objects.filter(pk=email_address.pk).exists():
                    raise Http404
                if not super().confirm_email(request, email_address):
                    return False
                user, confirmed = email_address.user, email_address.email
                facts = {"confirmed_email": confirmed}
                mails.notify(kind=mails.CONFIRMED, user=user, facts=facts, except_for=confirmed, now=timezone.now())
                return True
        except actions.AccountChanged as changed:
            raise Http404 from changed
        except IntegrityError:
            taken = "account/messages/email_confirmation_failed.txt"
            self.add_message(request, messages.ERROR, taken, {"email": email_address.email})
            return False

    def get_email_verification_redirect_url(self, email_address: EmailAddress) -> str:
        """Return the page after a confirmation. After a sign-up in this browser the log-in leads to where it began."""
        page = None if self.request.user.is_authenticated else self.request.session.pop(AFTER_CONFIRMATION, None)
        if page is None:
            url: str = super().get_email_verification_redirect_url(email_address)
            return url
        return f"{reverse('account_login')}?{urlencode({REDIRECT_FIELD_NAME: page})}"

    def add_message(self, request: HttpRequest, level: int, *args: Any, **kwargs: Any) -> None:
        """Add a message. The one about a confirmation mail gets a button to send it again, and says if it was held."""
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
        """Return the canonical spelling of this address, which is stored and counted."""
        return canonical(email)

    def pre_login(self, request: HttpRequest, user: User, **login: Any) -> HttpResponse | None:
        """Store in the session what a log-in begins with. A second factor may complete it minutes later."""
        request.session[BEGUN_WITH] = user.get_session_auth_hash()
        response: HttpResponse | None = super().pre_login(request, user, **login)
        return response

    def login(self, request: HttpRequest, user: User) -> None:
        """Log in, and keep in the session which guest this browser was, and the guest's opened invitations.

        Somebody who logs in to a further account keeps the guest, too: nobody else can get back to the guest's games.

        :raises ImmediateHttpResponse: after the log-in began, the account was closed, got a new password or a second
            factor, was logged out everywhere, or was deleted. It leads to the page that says so. Otherwise somebody who
            knows an old password and has a recovery code could log in after a reset, and a log-in that asked for no
            code could be completed after one is needed.
        """
        before: User | AnonymousUser = getattr(request, "guest", request.user)
        is_other_guest = before.is_authenticated and before.is_guest and before.pk != user.pk
        guest = before.pk if is_other_guest else request.session.get(LEFT_GUEST)
        links = request.session.get(LINKS) if is_other_guest else None
        kept = False
        with transaction.atomic():
            # What ends all sessions at this moment could not end one that is not stored yet.
            try:
                stored = actions.lock_person(user.pk)
            except User.DoesNotExist:
                stored = None
            if stored is None or stored.deletion_begun:
                clear_login(request)
                messages.error(request, say.text("message", DELETED))
                raise ImmediateHttpResponse(redirect("account_login"))
            if not stored.is_active:
                clear_login(request)
                raise ImmediateHttpResponse(redirect("account_inactive"))
            begun_with = str(request.session.pop(BEGUN_WITH, ""))
            if not constant_time_compare(begun_with, stored.get_session_auth_hash()):
                clear_login(request)
                messages.error(request, say.text("message", OVERTAKEN))
                raise ImmediateHttpResponse(redirect("account_login"))
            if actions.cancel_deletion(user=user):
                mails.notify(kind=mails.DELETION_CANCELLED, user=user, now=timezone.now())
                kept = True
            if is_other_guest:
                cast("Any", request.session).renew_key()  # so that the second of two clicks is the guest's, too
            super().login(request, user)  # empties the session of another user
            request.session.pop(PENDING_SIGN_UP, None)
        if kept:
            messages.success(request, say.text("message", KEPT))
        if guest is not None:
            request.session[LEFT_GUEST] = guest
            if links:
                request.session[LINKS] = links

    def post_login(self, request: HttpRequest, user: User, **login: Any) -> HttpResponse:
        """Return the response to a complete log-in, with the cookie that marks the browser as known."""
        response: HttpResponse = super().post_login(request, user, **login)
        known_browsers.remember(request, response, user)
        return response

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Return the page after a log-in: for a former guest, the one that asks whether to take the games along."""
        if LEFT_GUEST in request.session:
            return reverse("move-seats")
        url: str = super().get_login_redirect_url(request)
        return url
