"""Log in with the OpenID provider of the operator (`OIDC_ISSUER`), and link an account with it.

Each of the three things begins with a form and ends at the one callback. What must not change on the way (the state,
the nonce, the PKCE verifier, and who began what) is in the session of the browser that began it
(docs/decisions/0154-logging-in-with-an-openid-provider.md).
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, NoReturn, cast

import structlog
from allauth.account import app_settings
from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailAddress
from allauth.account.utils import get_next_redirect_url, perform_login, setup_user_email
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.forms import SignupForm
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Client
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.socialaccount.views import SignupView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import actions, invitations, known_browsers, log_ins, mails, openid_provider, queries
from accounts.adapter import PENDING_SIGN_UP
from accounts.address_forms import CountedSignUp
from accounts.allauth_internals import complete_signup, record_authentication, unstash_state
from accounts.changes import end_elsewhere
from accounts.models import User
from accounts.names import is_username
from accounts.openid_provider import CodeRefused, Person, ProviderFailed
from accounts.queries import provider_name
from accounts.sign_up import OneSignUp, invitation_ended
from accounts.tokens import digest_of
from common.readers_language import say
from common.say import N_

log = structlog.get_logger(__name__)

CONFIRM: Final = "confirm"
"""The process of showing one's identity again, beside allauth's to log in and to link."""
PENDING_SECONDS: Final = 30 * 60
"""How long somebody who signs up may take for the form."""
LONGEST_NEXT: Final = 1_000
"""The longest address of a page to return to. A session has room for some."""
ERROR: Final = re.compile(r"[a-z_]{1,40}")
"""What an error code of a provider looks like (RFC 6749, 4.1.2.1)."""
AWAY: Final = frozenset({"server_error", "temporarily_unavailable"})

NOT_LET_IN: Final = N_("{provider} did not let you in, or you have cancelled. Nothing was changed.")
NOT_BEGUN: Final = N_(
    "This log-in was not begun in this browser, or it took longer than ten minutes, or it is complete already. Nothing"
    " was changed."
)
OTHER_PERSON: Final = N_("You have logged out or in since you began this. Nothing was changed. Begin again.")
OTHER_IDENTITY: Final = N_("This is not the account of {provider} that your account here is linked with.")
TOO_OLD: Final = N_("{provider} has not asked you to log in just now. Log out there, then try again.")
NO_TIME: Final = N_(
    "{provider} did not say when you logged in there, so this does not show that it’s you. If that happens again, tell"
    " the people who run this site."
)
TOO_LATE: Final = N_("That took more than five minutes, so nothing was linked. Confirm that it’s you, then try again.")
LINKED: Final = N_("From now on you can log in with {provider}.")
ALREADY_LINKED: Final = N_(
    "Your account is linked with an account of {provider} already. To link another, unlink it first."
)
LINKED_TO_ANOTHER: Final = N_(
    "Another account here is linked with this account of {provider}. Log in to that one to unlink it."
)
UNLINKED: Final = N_("Your account is no longer linked with {provider}, and you are logged out everywhere else.")
NOT_LINKED: Final = N_("Your account was not linked any more.")
LAST_WAY_IN: Final = N_("Without a password you could not log in any more. Set one first.")
NOTHING_TO_SHOW: Final = N_("Set a password first: there is nothing else that shows that it’s you.")
JUST_SIGNED_UP: Final = N_(
    "You have just created an account with this account of {provider}, in another tab or by a double click. Log in"
    " with it."
)


class ProviderAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth ships no types
    """Says where the provider is, and where it leads back to."""

    @property
    def openid_config(self) -> dict[str, Any]:
        return openid_provider.read_endpoints()

    @property
    def client_class(self) -> type[OAuth2Client]:
        return _Client

    def get_callback_url(self, request: HttpRequest | None = None, app: object = None) -> str:
        return str(settings.SITE_URL) + reverse("openid_callback")  # never from the host name of a request


class _Client(OAuth2Client):  # type: ignore[misc]  # allauth ships no types
    def get_redirect_url(self, authorization_url: str, scope: list[str], extra_params: dict[str, Any]) -> str:
        """Return the address that leads to the provider. The endpoint may have a query of its own."""
        url: str = super().get_redirect_url(authorization_url, scope, extra_params)
        before, _, query = url.rpartition("?")
        return f"{before}{'&' if '?' in before else '?'}{query}"


class SiteProvider(OpenIDConnectProvider):  # type: ignore[misc]  # allauth ships no types
    """The provider of `OIDC_ISSUER`. Its identities are stored under the issuer, so those of another never match."""

    oauth2_adapter_class = ProviderAdapter
    pkce_enabled_default = True


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """What this site changes in allauth's `socialaccount`."""

    def get_provider(self, request: HttpRequest, provider: str = "", client_id: str | None = None) -> SiteProvider:
        """Return the provider of the settings. There are none in the database."""
        app = SocialApp(
            provider=SiteProvider.id,
            provider_id=settings.OIDC_ISSUER,
            name=provider_name(),
            client_id=settings.OIDC_CLIENT_ID,
            secret=settings.OIDC_CLIENT_SECRET,
            settings={"server_url": settings.OIDC_ISSUER},
        )
        return SiteProvider(request, app=app)

    def list_providers(self, request: HttpRequest) -> list[SiteProvider]:
        return [self.get_provider(request)] if settings.OIDC_ISSUER else []

    def authenticate_by_email(self, sociallogin: SocialLogin) -> None:
        """Find nobody: an equal mail address logs in to no account."""

    def get_requests_session(self) -> NoReturn:
        raise NotImplementedError("`openid_provider` makes all calls")

    def get_signup_form_initial_data(self, sociallogin: SocialLogin) -> dict[str, str]:
        user = cast("User", sociallogin.user)
        return {"username": user.username, "email": user.email}

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Save the new user, or the guest who signs up, with the identity at the provider. There is no password.

        :raises NoGuest: the guest has signed up in another request meanwhile.
        :raises LinkedToAnother: an account with this identity was made in another request meanwhile.
        :raises IntegrityError: another request has taken the name since it was checked.
        """
        adapter = get_account_adapter()
        user: User = adapter.save_user(request, adapter.new_user(request), form)
        actions.add_identity(user=user, issuer=sociallogin.account.provider, subject=sociallogin.account.uid)
        _save_address(request, user, sociallogin.email_addresses)
        sociallogin.user = user
        return user


def _save_address(request: HttpRequest, user: User, given: list[EmailAddress]) -> None:
    """Store the address of the sign-up form. It is confirmed if the provider says so, and nobody has confirmed it here.

    :param given: the address that the provider has confirmed, if any.
    """
    confirmed = [one for one in given if one.email == user.email and queries.holder_of(one.email) is None]
    try:
        with transaction.atomic():
            setup_user_email(request, user, confirmed)
    except IntegrityError:  # somebody has confirmed it just now
        setup_user_email(request, user, [])


_confirmed = reauthentication_required(app="allauth.socialaccount")


@require_POST
def log_in(request: HttpRequest) -> HttpResponse:
    """Lead to the provider, to log in or to sign up. `invitation` is the key of an invitation, where one is needed."""
    key = request.POST.get("invitation", "")
    return _begin(request, AuthProcess.LOGIN, invitation=digest_of(key) if key else "")


@login_required
@require_POST
@_confirmed  # type: ignore[untyped-decorator]  # allauth ships no types
def link(request: HttpRequest) -> HttpResponse:
    """Lead to the provider, to link the account with one there."""
    user = cast("User", request.user)
    if not get_account_adapter().get_reauthentication_methods(user):
        return _connections(request, NOTHING_TO_SHOW)
    if queries.identity_here(user) is not None:
        return _connections(request, ALREADY_LINKED)
    return _begin(request, AuthProcess.CONNECT, user=user.pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest) -> HttpResponse:
    """Ask people who have nothing else to show their identity at the provider again. POST leads there."""
    user = cast("User", request.user)
    if not _confirms_here(user):
        return redirect("account_reauthenticate")
    if request.method == "POST":
        # `max_age` obliges a provider to ask for a log-in, and to say when that was.
        return _begin(request, CONFIRM, {"prompt": "login", "max_age": "0"}, user=user.pk)
    return render(request, "socialaccount/confirm.html", {"next": get_next_redirect_url(request)})


def _confirms_here(user: User) -> bool:
    return queries.confirms_by_identity(user) and queries.identity_here(user) is not None


@login_required
@require_safe
def connections(request: HttpRequest) -> HttpResponse:
    """Say whether the account is linked with one at the provider."""
    return _connections(request)


@login_required
@require_POST
@_confirmed  # type: ignore[untyped-decorator]  # allauth ships no types
def unlink(request: HttpRequest) -> HttpResponse:
    """Unlink the account, and log out everywhere else: somebody else's identity may have logged in there."""
    user, answer = cast("User", request.user), redirect("socialaccount_connections")
    try:
        with transaction.atomic():
            if not actions.unlink_identity(user=user, issuer=settings.OIDC_ISSUER):
                messages.info(request, _said(NOT_LINKED))
                return answer
            end_elsewhere(request)
            mails.notify(kind=mails.UNLINKED, user=user, facts=_facts(), now=timezone.now())
    except actions.LastWayIn:
        return _connections(request, LAST_WAY_IN)
    known_browsers.remember(request, answer, user)
    messages.success(request, _said(UNLINKED))
    return answer


def _connections(request: HttpRequest, refusal: str = "") -> HttpResponse:
    user = cast("User", request.user)
    context = {
        "identity": queries.identity_here(user),
        "refusal": refusal and _said(refusal),
        "can_confirm": bool(get_account_adapter().get_reauthentication_methods(user)),
    }
    status = HTTPStatus.CONFLICT if refusal else HTTPStatus.OK
    return render(request, "socialaccount/connections.html", context, status=status)


def _begin(request: HttpRequest, process: str, more: dict[str, str] | None = None, **state: object) -> HttpResponse:
    """Lead to the provider, with a new state, nonce and PKCE verifier. `more` are further parameters for it."""
    provider = SocialAdapter().get_provider(request)
    next_url = get_next_redirect_url(request)
    if next_url is not None and len(next_url) > LONGEST_NEXT:
        next_url = None
    nonce = secrets.token_urlsafe(24)
    try:
        answer: HttpResponse = provider.redirect(
            request, process, next_url, auth_params={"nonce": nonce, **(more or {})}, nonce=nonce, **state
        )
    except ProviderFailed as failure:
        return _failed(request, failure)
    # A page that goes on by itself, because the content security policy lets forms lead to this site only, and Chromium
    # applies it also to redirects, as far as the provider sends people on to others.
    there = answer["Location"]
    page = render(request, "socialaccount/continue.html", {"url": there})
    page["Refresh"] = f"0; url={there}"
    return page


@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    """Complete what this browser has begun, once. The provider leads here."""
    provider = SocialAdapter().get_provider(request)
    state_id = request.GET.get("state", "")
    # It is removed from the session at once, whatever happens then.
    state = unstash_state(request, state_id=state_id, provider_id=provider.sub_id) if state_id else None
    if state is None or request.GET.get("iss", settings.OIDC_ISSUER) != settings.OIDC_ISSUER:  # RFC 9207
        return _refused(request, NOT_BEGUN)
    if "user" in state and state["user"] != request.user.pk:
        return _refused(request, OTHER_PERSON)
    if "error" in request.GET or not request.GET.get("code"):
        return _told_of_error(request, request.GET.get("error", ""), state)
    try:
        person = openid_provider.redeem(
            code=request.GET["code"],
            verifier=state["pkce_code_verifier"],
            nonce=state["nonce"],
            redirect_uri=ProviderAdapter(request, provider.sub_id).get_callback_url(),
        )
    except CodeRefused:
        return _refused(request, NOT_BEGUN)
    except ProviderFailed as failure:
        return _failed(request, failure)
    return ENDS[state["process"]](request, person, state)


def _told_of_error(request: HttpRequest, error: str, state: dict[str, Any]) -> HttpResponse:
    if error == "access_denied":
        messages.info(request, _said(NOT_LET_IN))
        return redirect("account_login" if state["process"] == AuthProcess.LOGIN else "socialaccount_connections")
    if error in AWAY:
        return _failed(request, openid_provider.Unreachable(f"led back with {error}"))
    said = error if ERROR.fullmatch(error) else "no known error"
    return _failed(request, openid_provider.BadAnswer(f"led back with {said}"))


def _log_in(request: HttpRequest, person: Person, state: dict[str, Any]) -> HttpResponse:
    """Log in to the account that is linked with this person, or ask a new one for a username."""
    identity = queries.identity_with(issuer=settings.OIDC_ISSUER, subject=person.subject)
    if identity is None:
        return _ask_to_sign_up(request, person, state)
    actions.note_identity_used(number=identity.pk, now=timezone.now())
    record_authentication(request, identity.user, "socialaccount", provider=identity.provider, uid=identity.uid)
    # With the checks and the second factor that a log-in by password has.
    answer: HttpResponse = perform_login(request, identity.user, redirect_url=state.get("next"))
    return answer


def _ask_to_sign_up(request: HttpRequest, person: Person, state: dict[str, Any]) -> HttpResponse:
    pending = {
        "issuer": settings.OIDC_ISSUER,
        "subject": person.subject,
        "email": get_account_adapter().clean_email(person.email),
        "email_verified": person.email_verified,
        "username": _username_like(person.username),
        "invitation": state.get("invitation", ""),
        "next": state.get("next"),
        "at": time.time(),
    }
    refusal = _no_new_account(request, pending)
    if refusal is not None:
        return refusal
    request.session[PENDING_SIGN_UP] = pending
    return redirect("socialaccount_signup")


def _no_new_account(request: HttpRequest, pending: dict[str, Any]) -> HttpResponse | None:
    """Return the page that refuses a new account, or None. Notes the invitation in the request, like its page does."""
    digest = pending["invitation"]
    try:
        needed = digest and settings.REGISTRATION != "open"
        if needed and invitations.find_by_digest(digest, timezone.now()) is not None:
            cast("Any", request).invitation = digest
    except invitations.UnusableInvitation as why:
        return invitation_ended(request, why)
    if get_account_adapter().is_open_for_signup(request):
        return None
    return render(request, "socialaccount/no_account.html", status=HTTPStatus.FORBIDDEN)


class OpenIDSignUpForm(CountedSignUp, SignupForm):  # type: ignore[misc]  # allauth ships no types
    """Asks people who come from the provider for the first time for a username. There is no password."""


class OpenIDSignUp(OneSignUp, SignupView):  # type: ignore[misc]  # allauth ships no types
    """Asks somebody who comes from the provider for the first time for a username and the rest."""

    form_class = OpenIDSignUpForm
    pending: dict[str, Any]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        pending = request.session.get(PENDING_SIGN_UP)
        if pending is None:
            return redirect("account_login")
        if pending["issuer"] != settings.OIDC_ISSUER or time.time() - pending["at"] > PENDING_SECONDS:
            del request.session[PENDING_SIGN_UP]
            return redirect("account_login")
        refusal = _no_new_account(request, pending)
        if refusal is not None:
            return refusal
        self.pending = pending
        self.sociallogin = _social_login(request, pending)
        # Past allauth's own view, which would look for its own note of the person in the session.
        answer: HttpResponse = super(SignupView, self).dispatch(request, *args, **kwargs)
        return answer

    def create(self, form: Any) -> HttpResponse:
        try:
            _, answer = form.try_save(self.request)
        except actions.LinkedToAnother:
            messages.info(self.request, _said(JUST_SIGNED_UP))
            return redirect("account_login")
        except invitations.UnusableInvitation as why:  # somebody else has used it meanwhile
            return invitation_ended(self.request, why)
        del self.request.session[PENDING_SIGN_UP]
        if answer is None:
            account, user = self.sociallogin.account, self.sociallogin.user
            record_authentication(self.request, user, "socialaccount", provider=account.provider, uid=account.uid)
            answer = complete_signup(self.request, user=user, redirect_url=self.pending["next"])
        signed_up: HttpResponse = answer
        return signed_up


sign_up = OpenIDSignUp.as_view()


def _social_login(request: HttpRequest, pending: dict[str, Any]) -> SocialLogin:
    """Return the log-in of a person who signs up, as allauth's form needs it."""
    email = pending["email"]
    confirmed = [EmailAddress(email=email, verified=True, primary=True)] if email and pending["email_verified"] else []
    return SocialLogin(
        user=User(username=pending["username"], email=email),
        account=SocialAccount(provider=pending["issuer"], uid=pending["subject"]),
        email_addresses=confirmed,
        provider=SocialAdapter().get_provider(request),
    )


def _username_like(name: str) -> str:
    """Return the username that the form suggests for a name at the provider, or ""."""
    wanted = name.partition("@")[0].lower()
    return wanted if is_username(wanted) else ""


def _link(request: HttpRequest, person: Person, state: dict[str, Any]) -> HttpResponse:
    """Link the account with this person at the provider."""
    user = cast("User", request.user)
    if not log_ins.is_confirmed(request):
        messages.warning(request, _said(TOO_LATE))
        return redirect("socialaccount_connections")
    try:
        with transaction.atomic():
            actions.link_identity(user=user, issuer=settings.OIDC_ISSUER, subject=person.subject)
            mails.notify(kind=mails.LINKED, user=user, facts=_facts(), now=timezone.now())
    except actions.AlreadyLinked:
        return _connections(request, ALREADY_LINKED)
    except actions.LinkedToAnother:
        return _connections(request, LINKED_TO_ANOTHER)
    messages.success(request, _said(LINKED))
    return redirect("socialaccount_connections")


def _confirm(request: HttpRequest, person: Person, state: dict[str, Any]) -> HttpResponse:
    """Count the identity at the provider as shown again. This is a confirmation like that by the password."""
    user = cast("User", request.user)
    identity = queries.identity_with(issuer=settings.OIDC_ISSUER, subject=person.subject)
    if identity is None or identity.user_id != user.pk or not _confirms_here(user):
        return _refused(request, OTHER_IDENTITY, HTTPStatus.FORBIDDEN)
    at = person.authenticated_at
    # Many providers send the time only after `max_age`, and a thief of the session can remove that from the address.
    if at is None:
        return _refused(request, NO_TIME, HTTPStatus.FORBIDDEN)
    if at < time.time() - app_settings.REAUTHENTICATION_TIMEOUT:
        return _refused(request, TOO_OLD, HTTPStatus.FORBIDDEN)
    record_authentication(
        request, user, "socialaccount", reauthenticated=True, provider=identity.provider, uid=identity.uid
    )
    return redirect(state.get("next") or "me")


ENDS: Final[dict[str, Callable[[HttpRequest, Person, dict[str, Any]], HttpResponse]]] = {
    AuthProcess.LOGIN: _log_in,
    AuthProcess.CONNECT: _link,
    CONFIRM: _confirm,
}
"""What the callback does for each thing that can be begun."""


def _said(sentence: str) -> str:
    return say.text("provider", sentence, provider=provider_name())


def _facts() -> dict[str, str]:
    return {"provider": provider_name()}


def _refused(request: HttpRequest, sentence: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> HttpResponse:
    return render(request, "socialaccount/refused.html", {"sentence": _said(sentence)}, status=status)


def _failed(request: HttpRequest, failure: ProviderFailed) -> HttpResponse:
    """Say that the provider cannot be used now. Logged once for each call that failed."""
    if not failure.repeated:
        log.warning("the OpenID provider failed", reason=str(failure), status=int(failure.status))
    answer = render(request, "socialaccount/failed.html", {"status": failure.status}, status=failure.status)
    answer._has_been_logged = True  # type: ignore[attr-defined]  # or Django logs the path, as an error of this site
    if failure.status != HTTPStatus.BAD_GATEWAY:
        answer["Retry-After"] = str(openid_provider.FAILURE_KEPT)
    return answer
