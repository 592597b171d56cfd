"""A template tag for secrets: API tokens, the secret of an app, recovery codes, and invitation links."""

from typing import Any

from django import template

from common import secret_pages

register = template.Library()


@register.simple_tag(takes_context=True)
def secret(context: dict[str, Any], text: str) -> str:
    """Return the text, and have the page sent uncompressed. Use it like ``{% secret new_token %}``."""
    secret_pages.mark_secret(context["request"])
    return text
