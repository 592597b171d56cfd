"""Whether a page may offer what is done only by somebody who has just confirmed that it is them."""

from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from django import template
from django.template import Context

register = template.Library()


@register.simple_tag(takes_context=True)
def recently_confirmed(context: Context) -> bool:
    """Return True if the password or second factor was shown again in the last minutes."""
    return bool(did_recently_reauthenticate(context["request"]))
