"""Read notices: a person's list, their badges, and the contents of the daily summary."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

import structlog
from django.db import Error
from django.db.models import F, QuerySet

from games import queries
from games.models import Game
from games.models.notices import Notice, NoticeSettings
from games.models.rows import count_badges
from games.notices.kinds import KINDS, OTHERS_TURN
from games.notices.sentences import names_in, text_of
from games.queries import GameView, LogLine, Table, lists, my_data
from mail.channels import CHANNELS
from mail.models import SITE, Outbox
from mail.verdicts import EXPECTED

if TYPE_CHECKING:
    from accounts.models import User

log = structlog.get_logger(__name__)
Found = TypeVar("Found")

A_DAY: Final = timedelta(days=1)
MOST_NEWS: Final = 20
LISTED: Final = 60
"""How many of a person's newest notice rows are listed. Each channel has a row of its own."""
UNREAD_LISTED: Final = 200
"""How many older notices are listed besides because they are unread: the bell counts them too."""
_KINDS: Final = "{" + ",".join(KINDS) + "}"
"""The names of all kinds, as PostgreSQL writes an array."""


_Event = tuple[int | None, int, str, int]
"""What the notices of one event have in common: game, version, kind and occasion."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One event in a person's list of notices, with its notice in each channel."""

    notices: tuple[Notice, ...]
    text: str  # what it says; "" if only the page of its game does
    view: GameView | None  # the table as the person may see it; None without one, or if it is closed to them

    @property
    def first(self) -> Notice:
        return self.notices[0]

    @property
    def shown(self) -> Notice | None:
        """The notice on the site, if it was shown."""
        return next((row for row in self.notices if row.channel == SITE and row.state == Notice.State.SENT), None)

    @property
    def unneeded(self) -> bool:
        """Whether it was dropped in every channel because the person did not need it (`EXPECTED`)."""
        return all(row.state == Notice.State.DROPPED and row.reason in EXPECTED for row in self.notices)


def entries_for(user: User) -> list[Entry]:
    """Return this person's recent notices, sent or not, and older unread ones, newest first. At most six queries."""
    # Turns of others are in the channel that they were posted to.
    mine = Notice.objects.filter(user=user).exclude(kind=OTHERS_TURN).order_by("-pk")
    newest = list(mine[:LISTED])
    rows = _known([*newest, *(_older_unread(mine.filter(pk__lt=newest[-1].pk)) if len(newest) == LISTED else ())])
    groups: dict[_Event, list[Notice]] = {}
    for row in rows:
        groups.setdefault(_event(row), []).append(row)
    return _entries(user, [sorted(group, key=lambda row: row.pk) for group in groups.values()])


def _entries(user: User, groups: Sequence[Sequence[Notice]]) -> list[Entry]:
    """Return the events of these notices of a person, one for each group. Runs at most two queries."""
    rows = [group[0] for group in groups]
    views, names = views_for(user, tables_of(games_in(rows))), names_in(rows)
    return [
        Entry(tuple(group), text_of(row, names, user.time_zone), views.get(row.game_id or 0))
        for group, row in zip(groups, rows, strict=True)
    ]


def _older_unread(rows: QuerySet[Notice]) -> list[Notice]:
    """Return the unread notices among these that were shown on the site, and those of the same events by mail."""
    shown = list(rows.filter(channel=SITE, state=Notice.State.SENT, read_at=None)[:UNREAD_LISTED])
    events = {_event(row) for row in shown}
    # All notices of an event are written at the same time.
    others = rows.exclude(channel=SITE).filter(created_at__in={row.created_at for row in shown}) if shown else ()
    return [*shown, *(row for row in others if _event(row) in events)]


def _event(row: Notice) -> _Event:
    return row.game_id, row.version, row.kind, row.occasion


def games_in(rows: Iterable[Notice]) -> set[int]:
    """Return the ids of the games that these notices are about."""
    return {row.game_id for row in rows if row.game_id is not None}


def views_for(user: User, tables: Mapping[int, Table]) -> dict[int, GameView]:
    """Return these tables as this person may see them, by id. Runs at most one query.

    Leaves out tables that are closed to them, for example after losing a seat.
    """
    return {table.game.pk: queries.view_of(table, user) for table in queries.visible_to(user, tables.values())}


def tables_of(games: Collection[int]) -> dict[int, Table]:
    """Return these games' tables by id. Runs one query.

    If a game cannot be read, all are read one by one, and the broken one is logged and left out.

    :raises Error: a database error.
    """
    return _readable(_read, games)


def last_lines_of(tables: Mapping[int, Table]) -> dict[int, LogLine]:
    """Return the newest line of the log of each of these tables by the game's id, as `tables_of` does. Runs one query.

    :raises Error: a database error.
    """
    return _readable(lambda games: queries.last_lines(tables[number] for number in games), tables)


def _readable(read: Callable[[Collection[int]], dict[int, Found]], games: Collection[int]) -> dict[int, Found]:
    try:
        return read(games) if games else {}
    except Error:
        raise
    except Exception as error:  # noqa: BLE001  # the loop below finds the broken game
        log.warning("games are read one by one", error=type(error).__name__)
    found: dict[int, Found] = {}
    for number in games:
        try:
            found |= read([number])
        except Error:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, read the others
            # No traceback: its values can include cards.
            log.error("a game cannot be read", game=number, error=type(error).__name__)  # noqa: TRY400  # no traceback
    return found


def _read(games: Collection[int]) -> dict[int, Table]:
    return {table.game.pk: table for table in queries.with_tables(Game.objects.filter(pk__in=games))}


@dataclass(frozen=True, slots=True)
class Badges:
    """The counts in the header of every page."""

    turns: int = 0  # games that `lists.waiting_for` finds
    notices: int = 0  # unread


def badges_of(user: User) -> Badges:
    """Return this person's counts, without notices of kinds that no page shows. Runs one query."""
    return Badges(*count_badges(user.pk, _KINDS))


def settings_of(user: User) -> NoticeSettings:
    """Return this person's notice settings, or the defaults if they never chose any."""
    return NoticeSettings.objects.filter(user=user).first() or NoticeSettings(user=user)


def unread_today(user: User, now: datetime) -> Sequence[Notice]:
    """Return this person's unread notices of the last 24 hours that say something, newest first."""
    rows = Notice.objects.filter(user=user, channel=SITE, created_at__gte=now - A_DAY, read_at=None)
    return _known(rows.filter(state=Notice.State.SENT).exclude(said="", text="").order_by("-pk")[:MOST_NEWS])


def rows_for_copy(user: User) -> list[dict[str, Any]]:
    """Return this person's notices for the copy of their data, oldest first, with what they say. Runs two queries."""
    columns = ("created_at", "kind", "channel", "state", "reason", "read_at", "version")
    fields = (*columns, "game_code")
    newest = Notice.objects.filter(user=user).only(*columns, "said", "facts", "text").order_by("-pk")
    rows = list(newest.annotate(game_code=F("game__code"))[: my_data.MOST_ROWS])[::-1]
    names = names_in(rows)
    return [
        {field: getattr(row, field) for field in fields} | {"text": text_of(row, names, user.time_zone)} for row in rows
    ]


def unread_while_suspended(user: User) -> list[Entry]:
    """Return the unread notices that the page of a suspended person lists, newest first. Runs at most four queries.

    These are also notices from before the suspension, because staff often take a seat first.
    """
    kinds = [kind.name for kind in KINDS.values() if kind.to_suspended]
    rows = Notice.objects.filter(user=user, channel=SITE, state=Notice.State.SENT, read_at=None, kind__in=kinds)
    return _entries(user, [[row] for row in _known(rows.order_by("-pk")[:MOST_NEWS])])


def _known(rows: Iterable[Notice]) -> list[Notice]:
    """Return the notices of known kinds and channels. Others were written by a later release, before a downgrade."""
    known, strange = list[Notice](), set[tuple[str, str]]()
    for row in rows:
        if row.kind in KINDS and row.channel in CHANNELS:
            known.append(row)
        else:
            strange.add((row.kind, row.channel))
    if strange:
        log.warning("notices of another release are passed over", kinds=sorted(strange))
    return known


def has_digest_content(user: User, now: datetime) -> bool:
    """Return True if a daily summary for this person would not be empty."""
    return bool(lists.count_waiting_for(user) or unread_today(user, now))


def mail_is_held() -> Outbox | None:
    """Return the outbox if mail is on hold, else None."""
    return Outbox.objects.filter(held_since__isnull=False).first()
