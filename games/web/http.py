"""HTTP responses that several views share."""

from __future__ import annotations

from http import HTTPStatus

from django.forms import BaseForm
from django.http import HttpResponseRedirect
from django.shortcuts import resolve_url


class SeeOther(HttpResponseRedirect):
    """A 303 redirect after a successful POST, like `SeeOther.to("game", code)`."""

    status_code = HTTPStatus.SEE_OTHER

    @classmethod
    def to(cls, name: str, *args: object) -> SeeOther:
        return cls(resolve_url(name, *args))


def form_status(*forms: BaseForm) -> HTTPStatus:
    """Return the status of a page with these forms: 422 if one of them has errors, else 200."""
    return HTTPStatus.UNPROCESSABLE_ENTITY if any(form.errors for form in forms) else HTTPStatus.OK
