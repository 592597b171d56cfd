"""What every page of rows in the admin is: something to read, which tells no more than it shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import structlog
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db import DataError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

log = structlog.get_logger(__name__)

OF_A_FIELD: Final = ("", "__exact", "__isnull", "__isempty", "__gte", "__lt")
"""How Django's filters of a field ask for it in an address."""
OF_DATES: Final = ("__year", "__month", "__day")
UNREADABLE: Final = "The list cannot be filtered like this, so it shows all rows."


class _ImpossibleValueError(Exception):
    """A list is asked for with a value that no row can have. The text is the name of the error's type."""


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy alone; at run time it takes no parameter
    """A list and a page of a row, to whoever may see them; nothing to change, and nothing to find out by asking."""

    show_facets = admin.ShowFacets.NEVER

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Only what the page's own filters ask.

        Django lets an address ask for any column of the model: `state__draw_pile__0="r5"` would name a card, and
        `password__startswith=` a hash, by whether the row is in the list.
        """
        return lookup in set(self.lookups_of_filters())

    def lookups_of_filters(self) -> Iterator[str]:
        """Yield the names of the URL parameters of this list's filters."""
        for of in self.list_filter:
            if isinstance(of, type) and issubclass(of, admin.SimpleListFilter):
                yield str(of.parameter_name)
            else:
                field = of[0] if isinstance(of, (tuple, list)) else of
                yield from (f"{field}{lookup}" for lookup in OF_A_FIELD)
        if self.date_hierarchy:
            yield from (f"{self.date_hierarchy}{lookup}" for lookup in OF_DATES)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list under its own name. Redirect to the whole list if the URL has an impossible value."""
        title = str(self.opts.verbose_name_plural)
        try:
            return super().changelist_view(request, {"title": title[0].upper() + title[1:]})
        except _ImpossibleValueError as error:
            log.warning("a staff list cannot be filtered", list=self.opts.label_lower, error=str(error))
            messages.error(request, UNREADABLE)
            return redirect(request.path)

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Return what the list shows, with its rows read.

        Django checks most values of filters, but accepts any number and any year. No column is worked out here: an
        error in one is a fault of the site, and not of the URL.

        :raises _ImpossibleValueError: the URL has a value that cannot be looked up.
        """
        try:
            with transaction.atomic():  # so that the database can still be used after an error
                found = super().get_changelist_instance(request)
                len(found.result_list)  # the database is asked here, and not when the page is rendered
        except (DataError, ValueError, OverflowError) as error:
            if not request.GET:
                raise
            raise _ImpossibleValueError(type(error).__name__) from error
        return found
