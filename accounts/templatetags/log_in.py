"""A template tag for the log-in page."""

from typing import Any

from django import template

from accounts.middleware import UNSENT_COOKIE

register = template.Library()


@register.simple_tag(takes_context=True)
def form_needed_log_in(context: dict[str, Any]) -> bool:
    """Return True if this page answers a form that was sent without a log-in."""
    return bool(context["request"].COOKIES.get(UNSENT_COOKIE))
