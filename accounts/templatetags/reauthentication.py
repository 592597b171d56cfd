"""A template tag for pages with changes that need a recent confirmation."""

from django import template
from django.template import Context

from accounts import log_ins

register = template.Library()


@register.simple_tag(takes_context=True)
def recently_confirmed(context: Context) -> bool:
    """Return True if the user has confirmed their identity in the last few minutes."""
    return log_ins.is_confirmed(context["request"])
