"""The name of the site and the texts of its operator (`SITE_NAME` and others), in every template (`builtins`)."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from django import template
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.utils import timezone

from common.htmx import HtmxRequest
from games.queries import announcement as queries
from games.render.site_texts import Block, blocks_of

register = template.Library()


@register.simple_tag
def site_name() -> str:
    """``{% site_name %}``: the name of this site."""
    return str(settings.SITE_NAME)


@register.simple_tag(takes_context=True)
def release(context: dict[str, Any]) -> str:
    """``{% release %}``: the version of the static files, as `release_of` gives it."""
    return release_of(context["request"])


def release_of(request: HtmxRequest) -> str:
    """Return the version of the static files, which is the same in all processes of a release.

    It is "" in a whole page that answers a form, because loading that page again would send the form again.
    """
    if request.method == "POST" and not request.htmx:
        return ""
    return getattr(staticfiles_storage, "manifest_hash", "") or _hash_of_sources()


@cache
def _hash_of_sources() -> str:
    """Return a hash of the static files as they were when this process first needed it."""
    digest = sha256()
    for folder in map(Path, settings.STATICFILES_DIRS):
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(f"{file.relative_to(folder)}\0".encode() + sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:12]


class SiteTexts(NamedTuple):
    """The texts of the operator, each may be empty, and whether errors are reported elsewhere."""

    contact: str
    imprint: str
    privacy: str
    reports: bool


@register.simple_tag
def site_texts() -> SiteTexts:
    """``{% site_texts as texts %}``: the texts of the operator."""
    return SiteTexts(settings.CONTACT_TEXT, settings.IMPRINT_TEXT, settings.PRIVACY_TEXT, bool(settings.SENTRY_DSN))


@register.simple_tag(takes_context=True)
def announcement(context: dict[str, Any]) -> str:
    """``{% announcement as said %}``: what staff announce, or "". Error pages that must run no query show none."""
    return queries.announcement(timezone.now()) if "request" in context else ""


class Access(NamedTuple):
    """What a visitor can become."""

    guest: bool
    account: bool
    by_invitation: bool


@register.simple_tag
def access() -> Access:
    """``{% access as access %}``: whether visitors can become guests, and whether they can sign up, and
    whether they can with an invitation only.
    """
    return Access(settings.GUESTS, settings.REGISTRATION == "open", settings.REGISTRATION == "invite")


@register.inclusion_tag("_site_text.html")
def site_text(text: str, level: int) -> dict[str, list[Block] | int]:
    """``{% site_text imprint 3 %}``: a text of the operator, with its paragraphs, and headings of this level."""
    return {"blocks": blocks_of(text), "level": level}
