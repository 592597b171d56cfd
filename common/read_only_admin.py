"""The base class of all admin pages: they show rows, change nothing, and cannot be used to guess hidden columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import structlog
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db import DataError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import capfirst

log = structlog.get_logger(__name__)

FIELD_LOOKUPS: Final = ("", "__exact", "__isnull", "__isempty", "__gte", "__lt")
"""What Django's field filters append to the name of their field in a URL."""
DATE_LOOKUPS: Final = ("__year", "__month", "__day")
"""What `date_hierarchy` appends."""
LONGEST_SEARCH: Final = 100
"""Characters."""
UNREADABLE: Final = "The list cannot be filtered like this, so it shows all rows."


class _ImpossibleValueError(Exception):
    """A filter in the URL has a value that cannot be looked up. The message is the name of the error's type."""


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy alone; at run time it takes no parameter
    """Shows a list and a page for each row. Nobody can add, change or delete."""

    show_facets = admin.ShowFacets.NEVER

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search for at most `LONGEST_SEARCH` characters: each word costs time for each row of the list."""
        if len(search_term) > LONGEST_SEARCH:
            messages.error(request, f"Search for at most {LONGEST_SEARCH} characters.")
            return queryset.none(), False
        return super().get_search_results(request, queryset, search_term)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow only the lookups of the list's own filters."""
        # Django allows a URL to filter by any column of the model. Whether a row is in the list would then tell a card
        # (`state__draw_pile__0="r5"`) or part of a password hash (`password__startswith=`).
        return lookup in set(self.lookups_of_filters())

    def lookups_of_filters(self) -> Iterator[str]:
        """Yield the names of the URL parameters of this list's filters."""
        for entry in self.list_filter:
            if isinstance(entry, type) and issubclass(entry, admin.SimpleListFilter):
                yield str(entry.parameter_name)
            else:
                field = entry[0] if isinstance(entry, (tuple, list)) else entry
                yield from (f"{field}{lookup}" for lookup in FIELD_LOOKUPS)
        if self.date_hierarchy:
            yield from (f"{self.date_hierarchy}{lookup}" for lookup in DATE_LOOKUPS)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list under the model's name. If the URL has an impossible value, redirect to the unfiltered list."""
        title = str(self.opts.verbose_name_plural)
        try:
            return super().changelist_view(request, {"title": capfirst(title)})
        except _ImpossibleValueError as error:
            log.warning("a staff list cannot be filtered", list=self.opts.label_lower, error=str(error))
            messages.error(request, UNREADABLE)
            return redirect(request.path)

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Return the change list with its rows already read.

        :raises _ImpossibleValueError: the URL has a value that cannot be looked up.
        """
        # Django checks most filter values, but accepts any number and any year. The columns are not worked out here:
        # an error in one is a bug of ours and not a fault of the URL.
        try:
            with transaction.atomic():  # so that the connection can still be used after an error
                found = super().get_changelist_instance(request)
                len(found.result_list)  # query now, not while the page is rendered
        except (DataError, ValueError, OverflowError) as error:
            if not request.GET:
                raise
            raise _ImpossibleValueError(type(error).__name__) from error
        return found
