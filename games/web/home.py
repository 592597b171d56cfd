"""The front page: my games, most urgent first, or what this is about; and the two ways straight into a game."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from games import queries
from games.actions import lobby
from games.queries import GameView, lists
from games.render import words
from games.web.answers import SeeOther
from games.web.asker import person
from games.web.guests import left_guest
from games.web.marks import marks
from games.web.once import make_table

LISTED: Final = 100
"""So many of my games are on the front page, the most urgent ones."""

OPEN_LISTED: Final = 12
A_CODE: Final = re.compile(r"[-a-zA-Z0-9_]{1,16}")
PLAY_NOW: Final = lobby.TableOptions(players=4, bots=3, bot="careful", public=False)
YOUR_TURN: Final = "Your turn: "


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """My games in groups, or the finished ones; for a visitor what the site is, and the open tables."""
    user, now = person(request), timezone.now()
    tables = queries.with_tables(lists.open_tables(user)[:OPEN_LISTED])
    open_tables = [_open_card(queries.view_of(table, user)) for table in tables]
    if user is None:
        return render(request, "home.html", {"open_tables": open_tables})
    finished = request.GET.get("finished") == "1"
    context = {
        "groups": [_finished(user, now)] if finished else _groups(user, open_tables, now),
        "finished": finished,
        "left_guest": left_guest(request),
        "away_until": user.vacation_until if user.rest.away(now) else None,
    }
    return render(request, "home.html", context)


def _groups(user: User, open_tables: list[dict[str, Any]], now: datetime) -> list[dict[str, Any]]:
    mine = [queries.view_of(table, user) for table in queries.with_tables(lists.current_games_of(user)[:LISTED])]
    turn = [game_card(view, now) for view in mine if view.my_turn]
    waiting = [game_card(view, now) for view in mine if not view.my_turn and view.status in ("open", "playing")]
    ended = [game_card(view, now) for view in mine if view.ended]
    return [
        {"id": "turn", "title": "Your turn", "games": turn, "urgent": True, "empty": "No game is waiting for you."},
        {"id": "wait", "title": "Waiting", "games": waiting},
        {"id": "open", "title": "Open tables", "games": open_tables},
        {"id": "over", "title": "Finished, unseen", "games": ended},
    ]


def _finished(user: User, now: datetime) -> dict[str, Any]:
    tables = queries.with_tables(lists.finished_games_of(user)[:LISTED])
    games = [game_card(queries.view_of(table, user), now) for table in tables]
    return {"id": "finished", "title": "Finished", "games": games, "empty": "You have not finished a game yet."}


def game_card(view: GameView, now: datetime) -> dict[str, Any]:
    """A game as a line of a list, told to the reader of `view`."""
    due = view.my_turn and view.deadline is not None
    others = [seat.name for seat in view.seats if seat.seat != view.you]
    return {
        "url": reverse("game", args=[view.id]),
        "name": words.listed(others) or words.table_name(view),
        "what": _what(view, now),
        "people": _length(view),
        "top": view.view.top if view.view else None,
        "due": words.time_left(view.deadline, now) if due and view.deadline else "",
        "due_note": words.due(view.deadline, now) if due and view.deadline else "",
    }


def _what(view: GameView, now: datetime) -> str:
    """The game's own headline, without what the list says beside it."""
    if view.view is None:
        free = view.players - len(view.seats)
        return f"Waiting for {words.counted(free, 'more player')}."
    sentence = words.headline(replace(view, deadline=None), now)
    if sentence.startswith(YOUR_TURN):
        what = sentence.removeprefix(YOUR_TURN)
        sentence = what[:1].upper() + what[1:]
    if view.bot_for_me:
        return "A bot plays for you." if view.turn == view.you else f"A bot plays for you. {sentence}"
    return sentence


def _length(view: GameView) -> str:
    return f"{view.terms.label} pace · {words.length(view)}"


def _open_card(view: GameView) -> dict[str, Any]:
    url = reverse("game", args=[view.id])
    seated = ", ".join(seat.name for seat in view.seats)
    return {
        "url": url,
        "name": words.table_name(view),
        "what": f"{len(view.seats)} of {view.players} seats taken",
        "people": f"{seated} · {_length(view)}",
        "join_url": reverse("join", args=[view.id]),
    }


@require_POST
@marks
def play_now(request: HttpRequest) -> HttpResponse:
    """A table with three bots, started; a visitor is made a guest."""
    return SeeOther.to("game", make_table(request, PLAY_NOW).game.code)


@require_safe
def next_game(request: HttpRequest) -> HttpResponse:
    """On to the most urgent game where I must move, `?after=` the one I look at if there is another."""
    user = person(request)
    if user is None:
        return redirect("home")
    after = request.GET.get("after", "")
    game = lists.next_game_for(user, after=after if A_CODE.fullmatch(after) else None) or lists.next_game_for(user)
    if game is None:
        messages.info(request, "No game is waiting for you.")
        return redirect("home")
    return redirect(game)
