"""Turns the text of rules into HTML, with a link at every rule number."""

import re
from collections.abc import Collection

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from games.render.rulebook import EVERY_RULE, rules_url
from games.rules import OPTIONS, RULEBOOK

register = template.Library()

RULE = re.compile(rf"\b({'|'.join(rule.id for rule in RULEBOOK)})\b")
MARKUP = (
    (re.compile(rf"`({'|'.join(spec.name for spec in OPTIONS)})`"), r'<a href="#option-\1"><code>\1</code></a>'),
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<b>\1</b>"),
    (re.compile(r"\*([^*]+)\*"), r"<em>\1</em>"),
)


@register.filter
def rule_text(text: str, shown: Collection[str]) -> SafeString:
    """Return the text as HTML: escaped, with code, emphasis and links to rules and options.

    `shown` are the numbers of the rules on the same page. A link to another one leads to the page of every rule.

    >>> rule_text("See TURN-2, *once*", {"TURN-2"})
    'See <a href="#TURN-2">TURN-2</a>, <em>once</em>'
    """
    every_rule = rules_url(EVERY_RULE)

    def link(found: re.Match[str]) -> str:
        page = "" if found[1] in shown else every_rule
        return f'<a href="{page}#{found[1]}">{found[1]}</a>'

    html = str(escape(text))
    for pattern, markup in MARKUP:
        html = pattern.sub(markup, html)
    html = RULE.sub(link, html)
    return mark_safe(html)  # noqa: S308 (escaped above; the rest is our markup)
