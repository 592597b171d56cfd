"""Read-only lists of audit entries, rounds, moves, notices, reports, suspensions and warnings.

No column shows a card that is not public.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html_join

from accounts.models import User
from common.read_only_admin import ReadOnlyAdmin
from games import rules
from games.admin.columns import (
    ABOUT,
    AFTER_MOVE,
    BY,
    DEALER,
    GAME,
    MOVE,
    SEAT,
    WHEN,
    WINNER,
    ByDate,
    by_title,
    titled,
)
from games.models import Appeal, AuditEntry, Case, Game, Move, Notice, Report, Round, Suspension, Warned
from games.notices.kinds import KINDS, title_of
from games.queries import conduct
from games.queries.lists import search_games
from games.staff import acts
from mail.channels import CHANNELS
from mail.verdicts import sentence_of


class RowsOfGames(ReadOnlyAdmin):
    """Rows that belong to a game, searched by the game's code or the people at its table."""

    search_fields = ("=game__code", "game__seats__name", "=game__seats__user__username")
    search_help_text = "A complete game code, or the username or name of a person who has or had a seat."
    show_full_result_count = False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        text = search_term.strip()
        return (queryset.filter(game__in=search_games(text)) if text else queryset), False


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    when, by, about, table = map(staticmethod, (WHEN, BY, ABOUT, GAME))
    after, seat_number = staticmethod(AFTER_MOVE), staticmethod(SEAT)
    list_display = ("when", "what", "by", "about", "table", "after", "seat_number", "reason")
    list_filter = (("act", by_title({act.name: act.title for act in acts.ACTS.values()})), ("at", ByDate))
    search_fields = (
        "=game_code", "person_called__name", "person__username", "person__display_name", "person__neutral_name",
        "before_called__name", "details__before", "actor_called__name", "reason",
    )  # fmt: skip
    search_help_text = (
        "A complete game code, or part of the reason, the staff member’s name, or the name of the person or of the"
        " previous owner of a seat."
    )
    fields = ("when", "what", "by", "reason", "about", "table", "after", "seat_number", "links", "more")
    readonly_fields = ("when", "what", "by", "about", "table", "after", "seat_number", "links", "more")
    date_hierarchy = "at"
    ordering = ("-pk",)

    @admin.display(description="act", ordering="act")
    def what(self, entry: AuditEntry) -> str:
        return acts.summary_of(entry)

    @admin.display(description="links")
    def links(self, entry: AuditEntry) -> str:
        """Return links to the person, the game, the case and the appeal of an entry, if they still exist."""
        subjects = (
            ("the person", User, entry.person_id),
            ("the game", Game, entry.game_id),
            ("the case", Case, entry.details.get("case")),
            ("the appeal", Appeal, entry.details.get("appeal")),
        )
        links = [
            (reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[number]), title)
            for title, model, number in subjects
            if number and model._default_manager.filter(pk=number).exists()
        ]
        return format_html_join(", ", '<a href="{}">{}</a>', links) or "–"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show an entry, with what was done as the heading."""
        entry = self.get_object(request, object_id)
        shown = {"title": acts.summary_of(entry), "subtitle": f"by {entry.actor_name}"} if entry else {}
        return super().change_view(request, object_id, form_url, {**shown, **(extra_context or {})})

    @admin.display(description="details")
    def more(self, entry: AuditEntry) -> str:
        return json.dumps(conduct.details_with_names(entry), ensure_ascii=False)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """Leave out entries about the reader."""
        return conduct.without_entries_about(super().get_queryset(request), request.user.pk)


@admin.register(Round)
class RoundAdmin(RowsOfGames):
    """A round without its piles, hands, deal or secret."""

    dealer_seat, winner_seat = staticmethod(DEALER), staticmethod(WINNER)
    list_display = ("game", "number", "started_at", "ended_at", "winner_seat", "points")
    list_select_related = ("game",)
    fields = (
        "game",
        "number",
        "dealer_seat",
        "commitment",
        "from_version",
        "started_at",
        "ended_at",
        "winner_seat",
        "points",
    )
    readonly_fields = ("dealer_seat", "winner_seat")
    ordering = ("-pk",)


@admin.register(Move)
class MoveAdmin(RowsOfGames):
    """The log as everyone reads it. Leaves out the moves' events, because they can name drawn cards."""

    move, seat_number, when = map(staticmethod, (MOVE, SEAT, WHEN))
    list_display = ("game", "move", "round_number", "seat_number", "notation", "when")
    list_select_related = ("game", "round")
    fields = ("game", "move", "round_number", "seat_number", "notation", "when")
    readonly_fields = ("move", "round_number", "seat_number", "notation", "when")
    ordering = ("-pk",)

    @admin.display(description="round", ordering="round")
    def round_number(self, move: Move) -> int:
        return move.round.number

    @admin.display(description="text")
    def notation(self, move: Move) -> str:
        """Return the move in notation, but with seats counted from 1, like in the other columns."""
        try:
            parsed = rules.parse_move(move.text)
        except rules.Refused:  # a move of a later release
            return move.text
        return str(parsed if parsed.target is None else replace(parsed, target=parsed.target + 1))


CHANNEL_TITLES: Final = {channel.name: channel.title for channel in CHANNELS.values()}


@admin.register(Notice)
class NoticeAdmin(ReadOnlyAdmin):
    """The notices of people: when and how each was sent, or why not.

    Leaves out their texts, and the kinds without `NoticeKind.to_staff`.
    """

    kind_title = staticmethod(titled("kind", title_of))
    channel_title = staticmethod(titled("channel", lambda channel: CHANNEL_TITLES.get(channel, channel)))
    list_display = ("user", "kind_title", "channel_title", "game", "state", "why", "created_at", "since")
    list_filter = (
        "state",
        ("channel", by_title(CHANNEL_TITLES)),
        ("kind", by_title({kind.name: kind.title for kind in KINDS.values() if kind.to_staff})),
    )
    search_fields = ("=game__code", "user__username", "user__display_name", "user__neutral_name")
    search_help_text = "A complete game code, or the username or name of the person."
    list_select_related = ("user", "game")
    fields = (
        "user", "kind_title", "channel_title", "game", "version", "state", "why",
        "created_at", "due_at", "since", "tries", "read_at",
    )  # fmt: skip
    readonly_fields = ("kind_title", "channel_title", "why")
    ordering = ("-pk",)
    show_full_result_count = False

    @admin.display(description="reason, as the person reads it", ordering="reason")
    def why(self, notice: Notice) -> str:
        return sentence_of(notice.reason) or "–"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Notice]:
        hidden = [kind.name for kind in KINDS.values() if not kind.to_staff]
        notices: QuerySet[Notice] = super().get_queryset(request).exclude(kind__in=hidden)
        return notices


@admin.register(Report)
class ReportAdmin(ReadOnlyAdmin):
    when = staticmethod(WHEN)
    list_display = ("when", "case", "reporter", "noticed", "game")
    search_fields = ("=game__code", "reporter__username", "case__person__username")
    search_help_text = "A complete game code, or the username of the reporter or of the person it is about."
    list_select_related = ("case__person", "reporter", "game")
    fields = ("case", "called", "reporter", "noticed", "game", "when", "text", "seen_at")
    readonly_fields = ("when", "noticed")
    ordering = ("-pk",)

    @admin.display(description="what the site noticed by itself", ordering="sign")
    def noticed(self, report: Report) -> str:
        return report.get_sign_display() or "–"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        """Leave out reports about the reader."""
        reports: QuerySet[Report] = super().get_queryset(request).exclude(case__person_id=request.user.pk)
        return reports


@admin.register(Suspension)
class SuspensionAdmin(ReadOnlyAdmin):
    when = staticmethod(WHEN)
    list_display = ("person", "when", "until", "lifted_at", "reason")
    search_fields = ("person__username", "person__display_name", "person__neutral_name")
    search_help_text = "The username or name of the person."
    list_select_related = ("person",)
    fields = ("person", "when", "until", "lifted_at", "reason")
    readonly_fields = ("when",)
    ordering = ("-pk",)


@admin.register(Warned)
class WarnedAdmin(ReadOnlyAdmin):
    when = staticmethod(WHEN)
    list_display = ("person", "when", "acknowledged_at", "text")
    search_fields = ("person__username", "person__display_name", "person__neutral_name")
    search_help_text = "The username or name of the person."
    list_select_related = ("person",)
    fields = ("person", "when", "text", "acknowledged_at")
    readonly_fields = ("when",)
    ordering = ("-pk",)
