"""The parts of a game's page, which are Jinja2 templates (templates/jinja2), and the tag that puts them into others."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from jinja2 import Environment

from games.templatetags.cards import avatar, card_back, face, shape, thousands
from games.templatetags.direction import bdi
from games.templatetags.idempotent_form import form_token
from games.templatetags.site import release_of

register = template.Library()


def environment(**options: Any) -> Environment:
    """Return the environment of the Jinja2 templates, with those tags and filters of the others that they use."""
    made = Environment(**options)  # noqa: S701  # Django sets `autoescape`
    made.globals |= {
        "avatar": avatar,
        "card_back": card_back,
        "face": face,
        "form_token": form_token,
        "release_of": release_of,
        "shape": shape,
        "static": static,
        "url": url,
    }
    made.filters |= {"bdi": bdi, "thousands": thousands}
    return made


@lru_cache(maxsize=1024)
def url(name: str, *args: str) -> str:
    """``{{ url("game", page.code) }}``: the address of a page."""
    return reverse(name, args=args)


@register.simple_tag(takes_context=True)
def jinja2(context: Context, name: str, **values: object) -> SafeString:
    """``{% jinja2 "games/_table.html" page=page %}``: a Jinja2 template with these values and the request."""
    return mark_safe(render_to_string(name, values, context.get("request"), using="jinja2"))  # noqa: S308
