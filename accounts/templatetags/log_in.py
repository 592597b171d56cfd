"""Template tags about logging in, signing up, and confirming who one is."""

from typing import Any

from django import template
from django.conf import settings
from django.utils import timezone

from accounts import invitations, log_ins, passkeys, queries
from accounts.middleware import UNSENT_COOKIE

register = template.Library()


@register.simple_tag(takes_context=True)
def form_needed_log_in(context: dict[str, Any]) -> bool:
    """Return True if this page answers a form that was sent without a log-in."""
    return bool(context["request"].COOKIES.get(UNSENT_COOKIE))


@register.simple_tag
def openid_provider() -> str:
    """Return the name of the OpenID provider with which people can log in, or "" if there is none."""
    return queries.provider_name() if settings.OIDC_ISSUER else ""


@register.simple_tag(takes_context=True)
def may_invite(context: dict[str, Any]) -> bool:
    """Return True if the user of this page may invite people to sign up."""
    user = context["user"]
    return bool(user.is_authenticated and invitations.may_invite(user, timezone.now()))


@register.simple_tag
def passkeys_are_possible() -> bool:
    """Return True if browsers allow passkeys at this site's address."""
    return passkeys.are_possible()


@register.simple_tag(takes_context=True)
def recently_confirmed(context: dict[str, Any]) -> bool:
    """Return True if the user has confirmed their identity in the last few minutes, or can show nothing."""
    return log_ins.is_confirmed(context["request"])
