"""The page of a table that has not started, or was closed before it started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django import forms
from django.urls import reverse

from common.readers_language import say
from common.say import N_
from games.queries import GameView, SeatView, Table
from games.refusals import Denied
from games.render import words
from games.render.action import Action, action_at
from games.render.invitations import invites, link_of, qr_code
from games.render.orders import OrdersPart, orders_of
from games.render.rulebook import table_rules_url


class Closed(NamedTuple):
    """Why a table was closed before it started: by staff, or after it had `waited` so long, in words."""

    by_staff: bool
    waited: str


class LobbyRequest(NamedTuple):
    """What the request asks the page to show.

    `path` is the page's address. `key` is that of the invitation for a reader at its address, else empty. `refresh`:
    without scripts, the page may reload itself. `name_form` asks a visitor for a name.
    """

    path: str
    key: str = ""
    refresh: bool = True
    refusal: Denied | None = None
    name_form: forms.Form | None = None


class LobbySeat(NamedTuple):
    """A seat and its player. A free seat has no name, and a bot no `url` and no `avatar`."""

    name: str
    url: str
    note: str
    avatar: str = ""


@dataclass(frozen=True, slots=True)
class LobbyPage:
    """The page of a table that has not started.

    `url` is its address. `refreshing`: it reloads itself without scripts. `fragment_url` is where it fetches its next
    state. `invite_url` is empty for readers without a seat, and so are `qr_code`, an image of it, and `share_text`, the
    words to share it with. `name_form` asks a visitor for a name, None if the reader is none or cannot sit down.
    `report_url` is empty if there is nobody to report. `private`: only
    people with the link can see the table. `options` are its options in words, and `rules_url` leads to its rules.
    `hears` says whose channel hears of turns, if anybody's does.
    `refusal_url` leads to the rule of `refusal`, and is empty without one. `orders` is None if the reader cannot set
    standing orders.
    """

    code: str
    version: int
    revision: int
    open: bool
    name: str
    headline: str
    detail: str
    seats: Sequence[LobbySeat]
    invite_url: str
    qr_code: str
    share_text: str
    name_form: forms.Form | None
    report_url: str
    private: bool
    options: str
    hears: str
    rules_url: str
    refusal_url: str
    orders: OrdersPart | None
    actions: Sequence[Action]
    url: str
    refreshing: bool
    fragment_url: str
    refusal: Denied | None


@dataclass(frozen=True, slots=True)
class InvitationPage:
    """The page of an invitation to a table that is not open any more: it was closed, is playing, or is over."""

    name: str
    closed: bool
    over: bool


def invitation_of(view: GameView) -> InvitationPage:
    """Return the page of an invitation to a table that is not open any more."""
    return InvitationPage(words.table_name(view), closed=view.view is None, over=view.ended)


def lobby_of(
    table: Table,
    view: GameView,
    *,
    asked: LobbyRequest,
    usual_bot: str,
    reportable: bool,
    hook_owner: str = "",
    barred: str = "",
    closed: Closed | None = None,
) -> LobbyPage:
    """Return the page of a table that has not started, for the reader of `view`.

    `usual_bot` is the kind of bot that a table gets first. `reportable`: there is somebody who the reader can report.
    `hook_owner` is whose hook gets the turns here, if anybody's. `barred` says why the reader may not sit down, if they
    may not. `closed` is given for a table that is not open any more.
    """
    free = view.players - len(view.seats) if closed is None else 0
    invite_url = link_of(table.game.invite_key) if closed is None and view.you is not None else ""
    actions = _actions(view, free, usual_bot) if closed is None and not barred else []
    name_form = asked.name_form if any(action.id == "join" for action in actions) else None
    invitation = reverse("invite", args=[asked.key]) if asked.key else ""
    if invitation:
        actions = [action._replace(url=invitation) for action in actions]
    return LobbyPage(
        code=view.id,
        version=view.version,
        revision=view.revision,
        open=closed is None,
        name=words.table_name(view),
        headline=words.headline(view),
        detail=_why_closed(view, closed) if closed else barred or _detail(view, free),
        seats=[
            *(
                LobbySeat(seat.name, words.profile_url(seat.username), _note(table, view, seat), seat.avatar)
                for seat in view.seats
            ),
            *[LobbySeat("", "", say.text("seat", "waiting"))] * free,
        ],
        invite_url=invite_url,
        qr_code=qr_code(invite_url) if invite_url else "",
        share_text=invites(table, view) if invite_url else "",
        name_form=name_form,
        report_url=reverse("report", args=[view.id]) if reportable and not invitation else "",
        private=not view.public,
        options=words.options_prose(view),
        hears=hook_owner and say.text("lobby", "{name}’s channel hears of turns here.", name=hook_owner),
        rules_url=table_rules_url(view, key=asked.key),
        refusal_url=_refusal_url(view, asked),
        orders=orders_of(view, with_form=True),
        actions=actions,
        url=asked.path,
        refreshing=asked.refresh and name_form is None,  # a reload would lose the name
        fragment_url=invitation or f"{reverse('game', args=[view.id])}?lobby=1&revision={view.revision}",
        refusal=asked.refusal,
    )


def _refusal_url(view: GameView, asked: LobbyRequest) -> str:
    if asked.refusal is None or asked.refusal.rule is None:
        return ""
    return table_rules_url(view, asked.refusal.rule, key=asked.key)


def _detail(view: GameView, free: int) -> str:
    if view.you is None:
        return say.text("lobby", N_("Sit down to play. It starts when full.") if free else N_("Every seat is taken."))
    if view.hosting and len(view.seats) > 1:
        return say.text("lobby", "Starts when full, or press Start.")
    return say.text("lobby", "Starts when full.")


def _why_closed(view: GameView, closed: Closed) -> str:
    # This page is where the notice about the closed table leads.
    if all(seat.bot for seat in view.seats):
        return say.text("lobby", "Everyone who sat here has left.")
    if closed.by_staff:
        return say.text("lobby", "Staff closed it.")
    return say.text("lobby", "Not enough players joined within {time}.", time=closed.waited)


def _note(table: Table, view: GameView, seat: SeatView) -> str:
    if seat.bot:
        return words.bot_note(seat.bot)
    row = next(row for row in table.seats if row.index == seat.seat)
    notes = (
        say.text("seat", "host") if row.user_id == table.game.host_id else "",
        say.text("seat", "you") if seat.seat == view.you else "",
        say.text("seat", "program") if seat.is_program else "",
    )
    return ", ".join(filter(None, notes)) or say.text("seat", "seated")


def _actions(view: GameView, free: int, usual_bot: str) -> list[Action]:
    """Return what this reader can do at this table."""
    if view.you is None:
        return [action_at(view, "join", say.text("button", "Sit down"), "primary")] if free else []
    found, seated = [], len(view.seats)
    if view.hosting:
        # A host alone sees what it takes, in a button of the same size: nothing moves when somebody sits down.
        label = say.plural("button", "Start with {n} player", "Start with {n} players", max(seated, 2))
        start = action_at(view, "start", label, "primary" if seated > 1 else "quiet")
        found.append(start._replace(off=seated < 2))
    if view.hosting and free:
        bot = next((seat.bot for seat in view.seats if seat.bot), usual_bot)
        found.append(action_at(view, "add-bot", say.text("button", "Add a bot"), "", ("bot", bot)))
    found.append(action_at(view, "leave", say.text("button", "Leave the table"), "quiet"))
    return found
