"""A template tag for secrets: API tokens, the secret of an app, recovery codes, and invitation links."""

from typing import Any

from django import template

from common import secret_pages

register = template.Library()


@register.simple_tag(takes_context=True)
def secret(context: dict[str, Any], text: str) -> str:
    """``{% secret new_token %}``: the text, on a page that is then sent uncompressed."""
    secret_pages.mark(context["request"])
    return text
