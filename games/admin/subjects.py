"""The base class of the admin pages of what staff act on: a list, a page for each row, and a page for each act."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.text import capfirst

from accounts.models import User
from common.read_only_admin import ReadOnlyAdmin
from games.admin.acts import act_page, buttons
from games.staff.acts import StaffAct
from games.staff.newer_acts import Known


class SubjectAdmin(ReadOnlyAdmin):
    """Shows the rows of one model, and lets staff act on them.

    acts: The acts on a row by name.
    perform: The function of each act.
    argument: The argument that names the row to these functions, and in the URLs of the acts.
    template: The template of the page of a row.
    """

    acts: Mapping[str, StaffAct[Any]]
    perform: Mapping[StaffAct[Any], Callable[..., object]]
    argument: str
    template: str

    def page_values(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return the values for the template of the page of a row."""
        raise NotImplementedError

    def act(self, request: HttpRequest, act: StaffAct[Any], row: Any) -> HttpResponse:
        """Answer with the page of an act on a row, by `page_of_act`."""
        raise NotImplementedError

    def _url_name(self, page: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self._act)
        return [path(f"<int:{self.argument}>/act/<slug:act>/", view, name=self._url_name("act")), *super().get_urls()]

    def _act(self, request: HttpRequest, act: str, **subject: int) -> HttpResponse:
        found, row = self.acts.get(act), self.get_object(request, str(subject[self.argument]))
        if found is None or row is None:
            raise Http404
        return self.act(request, found, row)

    def page_of_act(self, request: HttpRequest, act: StaffAct[Any], row: Any, **more: Any) -> HttpResponse:
        """Show the page of an act on a row, or perform it. `more`: other arguments of `act_page`."""
        by = cast("User", request.user)
        arguments: dict[str, Any] = {
            "perform": self.perform[act],
            "subject": {self.argument: row.pk},
            "possible": lambda: act.offered(self.model.objects.get(pk=row.pk), by, timezone.now()),
            "within": (capfirst(str(self.opts.verbose_name_plural)), f"admin:{self._url_name('changelist')}"),
            "back": reverse(f"admin:{self._url_name('change')}", args=[row.pk]),
        }
        return act_page(request, act, **arguments | more)

    def offered(self, request: HttpRequest, row: Any) -> list[StaffAct[Any]]:
        """Return the acts that this staff member is offered on a row now."""
        by, now = cast("User", request.user), timezone.now()
        return [act for act in self.acts.values() if act.offered(row, by, now)]

    def buttons(
        self, request: HttpRequest, row: Any, acts: Iterable[StaffAct[Any]], *, known: Known | str = ""
    ) -> list[dict[str, Any]]:
        """Return the buttons of acts on a row. `known`: see `acts.buttons`."""
        return buttons(request, acts, self._url_name("act"), row.pk, known=known)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a row and the acts on it. It is changed by acts alone."""
        if request.method == "POST" or not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404
        context = {**self.admin_site.each_context(request), "opts": self.opts, **self.page_values(request, row)}
        return render(request, self.template, context)
