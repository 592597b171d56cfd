"""Turns the text of rules into HTML, with a link at every rule number."""

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from games.rules import OPTIONS, RULEBOOK

register = template.Library()

MARKS = (
    (re.compile(rf"`({'|'.join(spec.name for spec in OPTIONS)})`"), r'<a href="#option-\1"><code>\1</code></a>'),
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<b>\1</b>"),
    (re.compile(r"\*([^*]+)\*"), r"<em>\1</em>"),
    (re.compile(rf"\b({'|'.join(rule.id for rule in RULEBOOK)})\b"), r'<a href="#\1">\1</a>'),
)


@register.filter
def rule_text(text: str) -> SafeString:
    """Return the text as HTML: escaped, with code, emphasis and links to rules and options.

    >>> rule_text("See TURN-2, *once*")
    'See <a href="#TURN-2">TURN-2</a>, <em>once</em>'
    """
    html = str(escape(text))
    for pattern, markup in MARKS:
        html = pattern.sub(markup, html)
    return mark_safe(html)  # noqa: S308 (escaped above; the rest is our markup)
