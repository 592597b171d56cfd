"""Template tags for cards, the shapes of colours, the logo, players and numbers."""

from functools import cache

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from accounts.avatars import picture
from games.render import faces

register = template.Library()


@register.filter
def thousands(number: int) -> str:
    """``{{ 1250|thousands }}``: 1,250."""
    return f"{number:,}"


@register.simple_tag
@cache
def face(card: str, side: str | None = None) -> SafeString:
    """``{% face "r7" %}``: a face as inline SVG, hidden from screen readers: put its name beside it.

    With a deck of two sides give the side that has the face: ``{% face "W" "dark" %}``.
    """
    return mark_safe(faces.face(card, side))  # noqa: S308 (constant markup, chosen by a dict key)


@register.simple_tag
@cache
def shape(color: str) -> SafeString:
    """``{% shape "r" %}``: the shape of a colour as inline SVG."""
    return mark_safe(faces.shape(color))  # noqa: S308 (constant markup, chosen by a dict key)


@register.simple_tag
def card_back(side: str | None = None) -> SafeString:
    """``{% card_back %}``: the back of a card as inline SVG. With a deck of two sides give either of them."""
    return mark_safe(faces.FLIP_BACK if side else faces.BACK)  # noqa: S308 (constant markup)


@register.simple_tag
def logo() -> SafeString:
    """``{% logo %}``: the logo of the site as inline SVG."""
    return mark_safe(faces.LOGO)  # noqa: S308 (constant markup)


@register.simple_tag
def avatar(chosen: str, name: str) -> SafeString:
    """``{% avatar player.avatar player.name %}``: a person's picture or, for a bot, the first letter of the name.

    A free seat, which has neither, gets a question mark. Screen readers skip it: put the name beside it.
    """
    if chosen:
        return picture(chosen)
    return format_html('<span class="avatar" aria-hidden="true">{}</span>', name[:1] or "?")
