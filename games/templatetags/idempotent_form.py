"""The mark of a form that counts once however often it is sent."""

import secrets

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def once() -> SafeString:
    """``{% once %}`` within a form: a token that no other form has; see `games.web.idempotent_forms`."""
    return format_html('<input type="hidden" name="form" value="{}">', secrets.token_urlsafe(12))
