"""The list of games, and the page of a game with the acts that staff can do there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.models import User
from games import queries
from games import render as rendering
from games.admin.acts import chosen_seat, may, refusal_of
from games.admin.subjects import SubjectAdmin
from games.models import AuditEntry, Game, Seat
from games.queries import GameView, Table, conduct
from games.queries.lists import search_games
from games.refusals import Denied
from games.render import words
from games.render.log_notes import notes_of
from games.render.table import shown_cards
from games.rules.cards import card_name, color_name
from games.staff import tables
from games.staff.acts import EXTEND, LOOK, MOVE_SEAT, REMOVE, TABLE_ACTS, StaffAct
from games.staff.audit import check_outside
from games.staff.queue import with_problem
from games.web.viewer import number

LOG_LINES: Final = 200
PAUSED_BY: Final[Mapping[str, str]] = {
    Game.PAUSED_BY_STAFF: "by staff",
    Game.PAUSED_BY_CONSENT: "by the players",
    Game.PAUSED_BY_RESTORE: "by the site’s operators, who end it with manage.py release",
}
"""Each stored reason of a pause in words that follow "paused"."""
RESUME_FIRST: Final = "To void the round, resume the game first."


class Problem(admin.SimpleListFilter):
    title = "problem"
    parameter_name = "ails"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("overdue", "Overdue: a deadline has passed but the clock has not acted"),
            ("stuck", "Stuck: no clock is running and no bot is due"),
            ("reported", "Reported: part of an open case"),
            ("paused", "Paused"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Game]) -> QuerySet[Game]:
        return with_problem(queryset, self.value(), reader=request.user.pk, now=timezone.now())


class Public(admin.SimpleListFilter):
    title = "who may see it"
    parameter_name = "public"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Anyone"), ("no", "People with the link")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Game]) -> QuerySet[Game]:
        return queryset if self.value() is None else queryset.filter(is_public=self.value() == "yes")


def _table_of(game: Game) -> Table:
    """Return the table of a game. One that cannot be read has no page here (404)."""
    table = queries.find(game.pk)
    if table is None:
        raise Http404
    return table


def _offered(table: Table, by: User) -> list[StaffAct[Table]]:
    """Return the acts that are possible at this table now."""
    now = timezone.now()
    return [
        act
        for act in TABLE_ACTS.values()
        if table.game.status in act.statuses and act.offered(table, by, now) and (act.seats is None or act.seats(table))
    ]


def _void_waits(table: Table) -> bool:
    """Return True if only a pause that staff can end keeps them from voiding the round."""
    ours = table.game.paused_reasons and Game.PAUSED_BY_RESTORE not in table.game.paused_reasons
    return bool(ours) and table.playing is not None and not table.playing.over


def _how_to_give_back(table: Table) -> list[str]:
    """Return a sentence for each seat that staff gave to a bot when they removed a person."""
    removed = conduct.replaced_by_bots(table.game)
    return [
        f"Seat {row.index + 1} was {person.name}’s. To give it back, enter the username {person.username}."
        for row in table.seats
        if row.user_id is None and (person := removed.get(row.index)) is not None
    ]


def _values_of(table: Table, act: StaffAct[Table], seat: Seat | None) -> dict[str, object]:
    """Return the values of the hidden fields, which say what the page showed.

    :param seat: the seat that was chosen, for acts on one seat.
    """
    if table.playing is None:
        return {}
    if act is EXTEND:
        return {"seat": table.on_turn.index, "owner": table.on_turn.user_id or 0}
    if act is REMOVE and seat is not None and seat.user is not None:
        return {"known_winner": tables.winner_by_removing(table, seat)}
    return {"deal": table.playing.round.number}


def _last_line(request: HttpRequest, game: Game) -> int:
    """Return the move that the log on the page ends with: that of `?to=`, or the newest."""
    return min(number(request.GET.get("to")) or game.version, game.version)


def _top(view: GameView) -> str:
    """Return the top card in words, with the chosen colour of a wild, or "" before the first deal."""
    if view.view is None:
        return ""
    top, color = card_name(view.view.top), view.view.color
    return top if color is None or top.startswith(color_name(color)) else f"{top}, {color_name(color).lower()}"


@admin.register(Game)
class GameAdmin(SubjectAdmin):
    acts = TABLE_ACTS
    perform = tables.PERFORM
    argument = "game_id"
    template = "admin/staff/game.html"
    list_display = ("code", "people", "state", "move_count", "pace", "deadline", "created_at")
    list_filter = (Problem, "status", "pace", Public)
    search_fields = ("code",)  # shows the field; `get_search_results` searches
    search_help_text = "A complete game code, or the username or name of a person who has or had a seat."
    ordering = ("-pk",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Game]:
        return super().get_queryset(request).prefetch_related("seats__user")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Game], search_term: str
    ) -> tuple[QuerySet[Game], bool]:
        text = search_term.strip()
        return (queryset.filter(pk__in=search_games(text).values("pk")) if text else queryset), False

    @admin.display(description="at the table")
    def people(self, game: Game) -> str:
        seats = sorted(game.seats.all(), key=lambda seat: seat.index)
        return ", ".join(seat.user.name if seat.user else seat.name for seat in seats)

    @admin.display(description="moves", ordering="version")
    def move_count(self, game: Game) -> int:
        return game.version

    @admin.display(description="status", ordering="status")
    def state(self, game: Game) -> str:
        return f"{game.get_status_display()}{', paused' if game.paused_reasons else ''}"

    def act(self, request: HttpRequest, act: StaffAct[Table], row: Game) -> HttpResponse:
        """Answer with the page of an act. Looking at hands shows them in the response, without a URL of their own."""
        table = _table_of(row)
        game, by = table.game, cast("User", request.user)
        more: dict[str, Any] = {}
        if may(by, act) and game.status not in act.statuses:
            status = game.get_status_display().lower()
            sentence = "“{act}” is not possible at a table that is {status}."
            denied = Denied("over", sentence, act=act.title, status=status, version=game.version)
            if request.method != "POST":
                messages.error(request, denied.message)
                return redirect("admin:games_game_change", game.pk)

            def refuse(**arguments: Any) -> None:
                raise denied

            more["perform"] = refuse

        def possible() -> bool:
            changed = queries.find(game.pk)
            return changed is not None and act in _offered(changed, by)

        def hands(result: tuple[AuditEntry, list[tuple[str, ...]]]) -> HttpResponse:
            entry, cards = result
            side = table.started.position.extra.side
            held = [
                (name, shown_cards(hand, table.options, side)) for name, hand in zip(table.names, cards, strict=True)
            ]
            context = {**self.admin_site.each_context(request), "game": game, "entry": entry, "hands": held}
            return render(request, "admin/staff/hands.html", context | {"title": f"Hands of game {game.code}"})

        also: list[str] = []
        known = _values_of(table, act, chosen_seat(request, table))
        options: dict[str, Any] = {"initial": known}
        title, refusal = act.named.format(name=game.code), refusal_of(check_outside, table, by=by)
        if act is LOOK:
            refusal = refusal or refusal_of(tables.check_view_hands, table, by=by)
        elif act is MOVE_SEAT:
            also = _how_to_give_back(table)
        elif act is REMOVE:
            if winner := known.get("known_winner"):
                also = [f"If the hand is set aside, the game ends and {winner} wins."]
            options["started"] = table.playing is not None
        elif act is EXTEND and table.playing is not None:
            seat = table.on_turn
            title = f"Give {seat.name}, seat {seat.index + 1}, more time"
            also = ["If the turn moves on before you confirm, nothing is done and the page asks again."]
        return self.page_of_act(
            request,
            act,
            game,
            possible=possible,
            about=f"Game {game.code}",
            refusal=refusal,
            title=title,
            table=table,
            also=also,
            form_options=options,
            show=hands if act is LOOK else None,
            **more,
        )

    def page_values(self, request: HttpRequest, row: Game) -> dict[str, Any]:
        """Return the table as a spectator sees it, also to a staff member who sits there."""
        table = _table_of(row)
        game, now = table.game, timezone.now()
        offered = _offered(table, cast("User", request.user))
        plays = LOOK in offered and refusal_of(tables.check_view_hands, table, by=request.user)
        if plays:
            offered.remove(LOOK)
        to = _last_line(request, game)
        view, lines = queries.view_of(table, None), queries.log_of(table, None, until=to, last=LOG_LINES)
        owners = User.objects.in_bulk([seat.user_id for seat in table.seats if seat.user_id])
        shut_out = {
            pk: "suspended" if owner.is_active else "closed account"
            for pk, owner in owners.items()
            if not owner.is_active or owner.suspended(now)
        }
        # Before its first move there may be acts, too. A list of all lines begins with those.
        since = lines[0].n if len(lines) == LOG_LINES else 0
        notes = notes_of(queries.between_moves(table, None, since=since, until=to if to < game.version else None))
        return {
            "title": f"Game {game.code}",
            "game": game,
            "paused": words.listed([PAUSED_BY.get(reason, reason) for reason in game.paused_reasons]),
            "view": view,
            "headline": words.headline(view),
            "prose": words.options_prose(view),
            "top": _top(view),
            "seats": [
                (seat, row, words.duration(row.bank), shut_out.get(row.user_id, ""))
                for seat, row in zip(view.seats, table.seats, strict=True)
            ],
            "lines": rendering.log_of(view, lines, now, notes),
            "shown": LOG_LINES,
            "to": to if to < game.version else None,
            "before": max(since - 1, 0),
            "refusal": refusal_of(check_outside, table, by=request.user),
            "acts": self.buttons(request, game, offered),
            "notes": [*([plays] if plays else []), *([RESUME_FIRST] if _void_waits(table) else [])],
            "audit": conduct.audit_of_game(game, reader=request.user.pk),
            "reports": conduct.reports_of_game(game, reader=request.user.pk),
        }
