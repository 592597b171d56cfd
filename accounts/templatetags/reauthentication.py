"""A template tag for pages with changes that need a recent confirmation."""

from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from django import template
from django.template import Context

register = template.Library()


@register.simple_tag(takes_context=True)
def recently_confirmed(context: Context) -> bool:
    """Return True if the user has confirmed their identity in the last few minutes."""
    return bool(did_recently_reauthenticate(context["request"]))
