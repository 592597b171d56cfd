"""Answers that several pages give."""

from __future__ import annotations

from django.http import HttpResponseRedirect
from django.shortcuts import resolve_url


class SeeOther(HttpResponseRedirect):
    """303: what was asked is done, and this is the page that shows it. `SeeOther.to("game", code)`."""

    status_code = 303

    @classmethod
    def to(cls, name: str, *args: object) -> SeeOther:
        return cls(resolve_url(name, *args))
