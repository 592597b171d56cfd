"""The token of a form that takes effect once, even if it is sent several times."""

import secrets

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def form_token() -> SafeString:
    """``{% form_token %}`` in a form: a hidden field with a random token; see `games.web.idempotent_forms`."""
    return format_html('<input type="hidden" name="form" value="{}">', secrets.token_urlsafe(12))
