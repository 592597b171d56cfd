"""Answers that several pages give."""

from __future__ import annotations

from http import HTTPStatus

from django.forms import BaseForm
from django.http import HttpResponseRedirect
from django.shortcuts import resolve_url


class SeeOther(HttpResponseRedirect):
    """303: what was asked is done, and this is the page that shows it. `SeeOther.to("game", code)`."""

    status_code = HTTPStatus.SEE_OTHER

    @classmethod
    def to(cls, name: str, *args: object) -> SeeOther:
        return cls(resolve_url(name, *args))


def form_status(*forms: BaseForm) -> HTTPStatus:
    """The status of a page that shows these forms: 422 if there is something wrong with one."""
    return HTTPStatus.UNPROCESSABLE_ENTITY if any(form.errors for form in forms) else HTTPStatus.OK
