"""Games: found by code, name or what ails them; shown as everybody sees them, with what staff can do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from accounts.read_only import ReadOnly
from games import conduct, queries
from games import render as rendering
from games.actions.moderation import tables
from games.admin.acts import Act, Doing, act_page, buttons, may
from games.admin.table_acts import PAGES
from games.models import Game, Report
from games.queries import GameView
from games.render.words import duration
from games.rules.cards import card_name, color_name

LATE: Final = timedelta(minutes=2)
"""How long what is due may wait before a game counts as overdue or stuck; the sweep looks every few seconds."""
LOG_LINES: Final = 200


class Ailing(admin.SimpleListFilter):
    title = "what ails it"
    parameter_name = "ails"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("overdue", "Overdue: a deadline has passed and no clock acted"),
            ("stuck", "Stuck: nobody's clock runs, and no bot comes"),
            ("reported", "Reported: in a case that is open"),
            ("paused", "Paused"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Game]) -> QuerySet[Game]:
        late = timezone.now() - LATE
        running = Q(status=Game.Status.PLAYING, paused_at=None)
        match self.value():
            case "overdue":
                return queryset.filter(running, deadline__lt=late)
            case "stuck":
                return queryset.filter(running & (Q(deadline=None, wake_at=None) | Q(wake_at__lt=late)))
            case "reported":
                said = Report.objects.filter(game=OuterRef("pk"), case__closed_at=None)
                return queryset.filter(Exists(said.exclude(case__person_id=request.user.pk)))
            case "paused":
                return queryset.filter(status=Game.Status.PLAYING, paused_at__isnull=False)
        return queryset


def _top(view: GameView) -> str:
    """The top card and the colour in force, in words; empty before the first deal."""
    if view.view is None:
        return ""
    return card_name(view.view.top) + (f", {color_name(view.view.color).lower()}" if view.view.color else "")


@admin.register(Game)
class GameAdmin(ReadOnly):
    list_display = ("code", "status", "people", "version", "pace", "deadline", "paused", "created_at")
    list_filter = (Ailing, "status", "pace", "is_public")
    search_fields = ("=code", "seats__name", "seats__user__username", "seats__user__display_name")
    ordering = ("-pk",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Game]:
        return super().get_queryset(request).prefetch_related("seats__user")

    @admin.display(description="at the table")
    def people(self, game: Game) -> str:
        seats = sorted(game.seats.all(), key=lambda seat: seat.index)
        return ", ".join(seat.user.name if seat.user else seat.name for seat in seats)

    @admin.display(boolean=True)
    def paused(self, game: Game) -> bool:
        return bool(game.paused_reasons)

    def _acts(self, request: HttpRequest, game: Game) -> list[dict[str, str]]:
        needless = Act.PAUSE if tables.STAFF in game.paused_reasons else Act.RESUME
        offered = {n: page for n, page in PAGES.items() if game.status in page.statuses and n != needless.value}
        return buttons(request, offered, "games_game_act", game.pk)

    def get_urls(self) -> list[URLPattern]:
        act = path("<int:game_id>/act/<slug:act>/", self.admin_site.admin_view(self.act), name="games_game_act")
        return [act, *super().get_urls()]

    def act(self, request: HttpRequest, game_id: int, act: str) -> HttpResponse:
        """The page of an act; looking at hands answers with the hands themselves, in no address of their own."""
        page, game = PAGES.get(act), Game.objects.filter(pk=game_id).first()
        if page is None or game is None:
            raise Http404
        back = reverse("admin:games_game_change", args=[game_id])
        if may(request.user, page.act) and game.status not in page.statuses:
            messages.error(request, f"{page.label}: not at a table that is {game.get_status_display().lower()}.")
            return redirect(back)
        table = queries.load(game)

        def hands(doing: Doing) -> HttpResponse:
            entry, cards = tables.look(game_id=game_id, by=doing.by, reason=doing.reason, now=doing.now)
            held = [
                (name, [(card, card_name(card)) for card in hand])
                for name, hand in zip(table.names, cards, strict=True)
            ]
            context = {**self.admin_site.each_context(request), "game": game, "entry": entry, "hands": held}
            return render(request, "admin/staff/hands.html", context | {"title": f"Hands of game {game.code}"})

        return act_page(
            request,
            page,
            subject=game_id,
            about=f"game {game.code}",
            back=back,
            form_options={"table": table},
            show=hands if act == Act.LOOK else None,
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The table as a spectator sees it; a member of staff who sits there sees no more on this page than others."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        game = self.get_object(request, object_id)
        if game is None:
            raise Http404
        table, now = queries.load(game), timezone.now()
        view = queries.view_of(table, None)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Game {game.code}",
            "game": game,
            "view": view,
            "headline": rendering.headline(view, now),
            "prose": rendering.options_prose(view),
            "top": _top(view),
            "seats": [(seat, row, duration(row.bank)) for seat, row in zip(view.seats, table.seats, strict=True)],
            "lines": rendering.log_of(view, queries.log_of(table, None, last=LOG_LINES), now),
            "shown": LOG_LINES,
            "acts": self._acts(request, game),
            "audit": conduct.audit_of_game(game, reader=request.user.pk),
            "reports": conduct.reports_of_game(game, reader=request.user.pk),
        }
        return render(request, "admin/staff/game.html", context)
