"""Say due notices in a few words, for channels that are no mails: what happened, as a lock screen may show it.

A message names no card. What staff write to people goes by mail and on the site only (`NoticeKind.goes_by`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog
from django.conf import settings
from django.db import Error
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import get_language

from accounts.models import User
from common.readers_language import say
from games.models import Notice
from games.notices import inbox, sentences
from games.notices.emails import game_name, one_line
from games.notices.kinds import KINDS, OTHERS_TURN, TURN, title_of
from games.queries import GameView, lists
from games.render import words
from mail.sources import Message

log = structlog.get_logger(__name__)

TAG_LENGTH: Final = 24


def compose(rows: Sequence[Notice], now: datetime) -> list[tuple[Notice, Message | None]]:
    """Return each notice with its message, or with None if that could not be made.

    Runs four queries, one for each person, and at most one for each notice about a game.
    """
    names, tables = sentences.names_in(rows), inbox.tables_of(inbox.games_in(rows))
    made: list[tuple[Notice, Message | None]] = []
    waiting = {person: lists.count_waiting_for(person) for person in {row.user for row in rows}}
    for row in rows:
        try:
            table = tables.get(row.game_id or 0)
            view = None if table is None else inbox.views_for(row.user, {table.game.pk: table}).get(table.game.pk)
            made.append((row, _message(row, view, names, waiting[row.user], now)))
        except Error:
            raise
        except Exception as error:  # noqa: BLE001  # one message that cannot be made must not stop the others
            # No traceback: its values can include cards.
            log.error("message not made", notice=row.pk, error=type(error).__name__)  # noqa: TRY400  # see above
            made.append((row, None))
    return made


def test_message(person: User) -> Message:
    """Return the message by which a person tries a channel."""
    return Message(
        title=say.text("notice", "A test"),
        body=say.text("notice", "You get your notifications here."),
        url=settings.SITE_URL + reverse("notice-settings"),
        tag=tag_of("test"),
        deadline=None,
        kind="test",
        game="",
        version=0,
        person=person.name,
        urgent=False,
        waiting=0,
        language=get_language() or settings.LANGUAGE_CODE,
    )


def _message(row: Notice, view: GameView | None, names: Mapping[int, str], waiting: int, now: datetime) -> Message:
    kind, person, about = KINDS[row.kind], row.user, row.kind
    if about == OTHERS_TURN:
        about, name = TURN, sentences.fact_of(row, "player", names)
        if view is not None and view.view is not None:
            view = replace(view, you=view.view.turn)  # it names the others as that player sees them
    else:
        name = person.name
    said = one_line(sentences.text_of(row, names, person.time_zone))
    return Message(
        title=title_of(about),
        body=_turn(view, now) if kind.turn and view is not None else said,
        url=settings.SITE_URL + _path(row, view),
        tag=tag_of(f"{row.game_id} {TURN if kind.turn else row.kind}"),
        deadline=view.deadline if kind.turn and view is not None else None,
        kind=about,
        game="" if view is None else view.id,
        version=row.version,
        person=name,
        urgent=kind.reminds,
        waiting=waiting,
        language=get_language() or settings.LANGUAGE_CODE,
        to_reader=about == row.kind,
        turn=kind.turn,
    )


def _turn(view: GameView, now: datetime) -> str:
    game = one_line(game_name(view))
    if view.deadline is None:
        return game
    return say.text("notice", "{game} · {left}", game=game, left=words.time_left(view.deadline, now))


def _path(row: Notice, view: GameView | None) -> str:
    if view is not None:
        return reverse("game", args=[view.id])
    return KINDS[row.kind].path(row.occasion) or reverse("notices")


def tag_of(about: str) -> str:
    """Return a name that tells nothing about what it stands for. A message replaces an older one with the same tag."""
    return salted_hmac("games.notices.messages", about).hexdigest()[:TAG_LENGTH]
