"""A person's page, and the form to report them."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from accounts.queries import person_named
from common.readers_language import say
from games import queries
from games.queries import Viewer, profiles
from games.queries.players import players_of
from games.render.profile import most_listed, profile_of, table_label
from games.staff import cases
from games.web import report_form
from games.web.idempotent_forms import form_key
from games.web.viewer import person


def _known(username: str) -> User:
    found = person_named(username) if username.isprintable() else None  # PostgreSQL refuses a NUL
    if found is None:
        raise Http404(say.text("error", "There is nobody with this name."))
    return found


@require_safe
def profile(request: HttpRequest, username: str) -> HttpResponse:
    """Show what everyone may know of a person, and the tables that the reader shares with them."""
    them, reader, now = _known(username), person(request), timezone.now()
    if not them.is_active:
        return _closed(request, them)
    is_own = reader == them
    current, _ = queries.readable_tables(profiles.public_tables_of(them))
    shared = queries.readable_tables(profiles.shared_tables(them, reader))[0] if reader and not is_own else []
    both = {table.game.pk for table in shared}
    page = profile_of(
        them,
        is_own=is_own,
        tally=profiles.stats_of(them),
        shared=[(table, queries.view_of(table, reader)) for table in shared],
        current=[queries.view_of(table, reader) for table in current if table.game.pk not in both],
        now=now,
    )
    return render(request, "people/person.html", {"page": page})


def _closed(request: HttpRequest, them: User) -> HttpResponse:
    return render(request, "people/closed.html", {"person": them}, status=HTTPStatus.GONE)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report_person(request: HttpRequest, username: str) -> HttpResponse:
    """Report a person for one of the games that both have or had a seat in."""
    them, reader, now = _known(username), cast("User", request.user), timezone.now()
    if not them.is_active:
        return _closed(request, them)
    if them == reader:
        return redirect("person", username)
    tables = {table.game.code: table for table in queries.readable_tables(profiles.tables_to_report(them, reader))[0]}
    games = [(code, table_label(table, queries.view_of(table, reader), them)) for code, table in tables.items()]
    form = report_form.PersonReportForm(request.POST if request.method == "POST" else None, games=games)

    def hand_in() -> None:
        chosen = dict(form.cleaned_data)
        code = chosen.pop("game")
        [player] = [player for player in players_of(tables[code]) if player.person_id == them.pk]
        chosen |= {"seat": player.seat, "owner": player.owner}
        cases.report(code=code, viewer=Viewer(reader), now=now, form_key=form_key(request), **chosen)

    context = {"person": them, "only": most_listed(games)}
    return report_form.answer(request, form, hand_in, page="people/report.html", context=context)
