"""A filter for text with names in it, available in every template (`builtins` in the settings)."""

from __future__ import annotations

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import mark_safe

from games.render.direction import has_right_to_left, isolate

register = template.Library()


@register.filter
def bdi(text: str) -> str:
    """``{{ line.text|bdi }}``: put `<bdi>` around names in right-to-left scripts. Not for attributes."""
    if not has_right_to_left(text):
        return text  # the template escapes it
    return mark_safe(isolate(conditional_escape(text), "<bdi>", "</bdi>"))  # noqa: S308  # escaped, and then constant markup
