"""Test that the URLs of staff pages can query no columns except those of their filters.

The tests use the registered pages, so new pages, models and columns are covered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminLookup, DisallowedModelAdminToField
from django.contrib.admin.options import ModelAdmin
from django.db.models import Field
from django.test import Client, RequestFactory

from accounts.models import User
from common.read_only_admin import ReadOnlyAdmin
from games.models import Game, Round
from tests.support.codes import staff_browser
from tests.support.tables import table_after

pytestmark = pytest.mark.long

PAGES: Final = sorted(admin.site._registry.values(), key=lambda page: page.opts.label)
SECRET: Final = {
    "accounts.User": {"password", "email"},
    "accounts.ApiToken": {"digest"},
    "mfa.Authenticator": {"data"},
    "games.Game": {"invite_key", "form_key"},
    "games.Round": {"deal", "secret", "state"},
    "games.Move": {"events", "token"},
    "games.Notice": {"text"},
}
"""Columns that no staff list shows, sorts by or searches in. Only a complete mail address finds its owner."""


@pytest.fixture
def as_root(root: User) -> Client:
    return staff_browser(root)


def columns(page: Any) -> Iterator[tuple[str, Field[Any, Any]]]:
    """Return every column of a page's model and of related models, by its name in a query."""
    for field in page.opts.get_fields():
        if isinstance(field, Field):
            yield field.name, field
            if field.attname != field.name:
                yield field.attname, field
        related = field.related_model
        for other in related._meta.concrete_fields if related else ():
            yield f"{field.name}__{other.name}", other


def lookups(page: Any) -> Iterator[str]:
    """Return what a URL could query on a page."""
    for name, field in columns(page):
        yield name
        yield from (f"{name}__{lookup}" for lookup in field.get_lookups())


def filtered(page: Any) -> set[str]:
    """Return the columns of the page's filters."""
    plain = {of[0] if isinstance(of, tuple) else of for of in page.list_filter if not isinstance(of, type)}
    return plain | ({page.date_hierarchy} - {None})


def refused(page: Any, root: User, query: dict[str, str]) -> bool:
    request = RequestFactory().get("/admin/", query)
    request.user = root
    try:
        page.get_changelist_instance(request)
    except DisallowedModelAdminLookup:
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.opts.label)
def test_a_url_can_filter_only_by_the_fields_of_filters(page: Any, root: User) -> None:
    asked = [lookup for lookup in lookups(page) if lookup.split("__")[0] not in filtered(page)]
    assert len(asked) > 20
    assert [lookup for lookup in asked if page.lookup_allowed(lookup, "1")] == []
    assert refused(page, root, {asked[0]: "1"})
    assert refused(page, root, {asked[-1]: "1"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.opts.label)
def test_a_filter_accepts_its_own_lookups_only(page: Any, root: User) -> None:
    """For example not `person__password__startswith=` on a page with a filter by person."""
    own = [lookup for lookup in lookups(page) if lookup.split("__")[0] in filtered(page)]
    taken = {lookup.removeprefix(lookup.split("__")[0]) for lookup in own if page.lookup_allowed(lookup, "1")}
    assert taken <= {"", "__exact", "__isnull", "__gte", "__lt", "__year", "__month", "__day"}


def test_the_scan_finds_djangos_own_pages(root: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReadOnlyAdmin, "lookup_allowed", ModelAdmin.lookup_allowed)
    page = admin.site._registry[Round]
    for lookup in ("state__contains", "deal__regex", "state__gt", "state__has_key"):
        assert lookup in set(lookups(page))
        assert not refused(page, root, {lookup: "r5"})


def choices(specs: Any, changelist: Any) -> Iterator[str]:
    """Return the URLs of the first and of the last choice of each of a list's filters."""
    for spec in specs:
        first, *others = (choice["query_string"] for choice in spec.choices(changelist))
        yield from (first, *others[-1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.opts.label)
def test_every_filter_of_a_page_still_works(page: Any, root: User, as_root: Client) -> None:
    request = RequestFactory().get("/admin/")
    request.user = root
    changelist = page.get_changelist_instance(request)
    list_ = f"/admin/{page.opts.app_label}/{page.opts.model_name}/"
    for query in choices(changelist.filter_specs, changelist):
        answer = as_root.get(list_ + query)
        assert answer.status_code == 200, query
        assert answer.context["cl"].get_filters_params().keys() == {
            part.split("=")[0] for part in query.removeprefix("?").split("&") if part
        }
    if page.date_hierarchy:
        day = f"{page.date_hierarchy}__year=2026&{page.date_hierarchy}__month=1&{page.date_hierarchy}__day=1"
        assert as_root.get(f"{list_}?{day}").status_code == 200


def shown(page: Any) -> Iterator[tuple[str, str]]:
    """Return what a list shows, filters, sorts and searches, each with its purpose."""
    yield from (("shows", str(name)) for name in (*(page.fields or ()), *page.list_display))
    yield from (("filters by", name) for name in filtered(page))
    yield from (("sorts by", name.lstrip("-")) for name in page.ordering or ())
    for name in page.list_display:
        method = getattr(page, name, None) if isinstance(name, str) else name
        if order := getattr(method, "admin_order_field", None):
            yield "sorts by", str(order).lstrip("-")
    yield from (("searches in", name) for name in page.search_fields)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.opts.label)
def test_no_list_shows_or_searches_secret_fields(page: Any) -> None:
    """A search by a part, or a sort, reveals a column bit by bit. A search by the complete value (`=`) does not."""
    secret = {f"{model}.{name}" for model, names in SECRET.items() for name in names}
    found = []
    for what, name in shown(page):
        model, *path = page.opts.model, *name.lstrip("^@=").split("__")
        for step in path:
            here = next((field for field in model._meta.get_fields() if field.name == step), None)
            if here is None:
                break  # a method, a lookup, or an annotation
            if f"{model._meta.label}.{step}" in secret and not (what == "searches in" and name.startswith("=")):
                found.append(f"{what} {name}")
            model = here.related_model or model
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.opts.label)
def test_a_row_is_found_by_its_id_only(page: Any, root: User, as_root: Client) -> None:
    """`_to_field` could name another column to find a row by."""
    for name in {name for name, _ in columns(page) if "__" not in name} - {page.opts.pk.name}:
        request = RequestFactory().get("/admin/", {"_to_field": name})
        request.user = root
        with pytest.raises(DisallowedModelAdminToField):
            page.changelist_view(request)
    path = f"/admin/{page.opts.app_label}/{page.opts.model_name}/r5/change/?_to_field={name}"
    assert as_root.get(path).status_code in (302, 400, 404), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.opts.label)
def test_no_list_has_an_action_and_no_page_a_field_to_fill_in(page: Any, root: User) -> None:
    request = RequestFactory().get("/admin/")
    request.user = root
    assert page.get_actions(request) == {}
    assert (page.list_editable, page.inlines) == ((), ())
    assert page.get_inline_instances(request) == []


def test_no_page_selects_a_column_with_cards(mo: User, alice: User, bob: User) -> None:
    """The scan above, over HTTP and with the values that would match."""
    table = table_after([alice, bob], 12, seed=0)
    round_, position, key = table.started.round, table.started.position, Game.objects.get(pk=table.game.pk).invite_key
    browser, top = staff_browser(mo), json.dumps(position.draw_pile[0])
    asked = {
        "games/round": {"deal__startswith": round_.deal[:2], "state__draw_pile__0": top},
        "games/move": {"events__icontains": "card"},
        "games/game": {"invite_key__startswith": key[:1], "round__state__draw_pile__0": top},
        "accounts/user": {"password__startswith": "md5", "email__startswith": "a"},
    }
    for name, questions in asked.items():
        for lookup, value in questions.items():
            assert browser.get(f"/admin/{name}/", {lookup: value}).status_code == 400, lookup


def test_no_page_offers_autocompletion(as_root: Client) -> None:
    """Django's search for form fields, which no page here uses."""
    query = {"app_label": "games", "model_name": "seat", "field_name": "user", "term": "example.org"}
    assert as_root.get("/admin/autocomplete/", query).status_code == 403
