"""Template tags that draw cards and the shapes of their colours, and write points."""

from collections.abc import Hashable
from functools import lru_cache

from django import template
from django.template import loader
from django.utils.safestring import SafeString, mark_safe

from games.render import faces

register = template.Library()


@register.filter
def thousands(number: int) -> str:
    """``{{ 1250|thousands }}``: 1,250, as sentences write it."""
    return f"{number:,}"


@register.simple_tag
def face(card: str) -> SafeString:
    """``{% face "r7" %}``: the card as inline SVG, hidden from screen readers (its name stands beside it)."""
    return mark_safe(faces.face(card))  # noqa: S308 (constant markup, chosen by a dict key)


@register.simple_tag
def shape(color: str) -> SafeString:
    """``{% shape "r" %}``: the shape that stands for a colour."""
    return mark_safe(faces.shape(color))  # noqa: S308 (constant markup, chosen by a dict key)


@register.simple_tag
def card_back() -> SafeString:
    """``{% card_back %}``: a card seen from behind."""
    return mark_safe(faces.BACK)  # noqa: S308 (constant markup)


@register.simple_tag
def logo() -> SafeString:
    """``{% logo %}``: the mark of the site, the four shapes."""
    return mark_safe(faces.MARK)  # noqa: S308 (constant markup)


@register.simple_tag
def fragment(name: str, **values: Hashable) -> str:
    """``{% fragment "games/_card.html" card=card %}``: an include whose result depends on these values alone.

    Most of a game page is as it was a move ago, so what was rendered is kept for the next reader of the same values.
    """
    return _fragment(name, **values)


@lru_cache(maxsize=8192)
def _fragment(name: str, **values: Hashable) -> str:
    return loader.get_template(name).render(dict(values))
