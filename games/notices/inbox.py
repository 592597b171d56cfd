"""Every read of notices: what one person was told, what there is to sum up, and how far the sender is behind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import structlog
from django.db import Error

from games import queries
from games.models import Game
from games.models.notices import SITE, Notice, NoticeSettings, Outbox
from games.models.rows import count_badges
from games.notices.kinds import CHANNELS, EXPECTED, KINDS
from games.queries import GameView, Table, lists

if TYPE_CHECKING:
    from accounts.models import User

log = structlog.get_logger(__name__)

A_DAY: Final = timedelta(days=1)
MOST_NEWS: Final = 20
LISTED: Final = 60
"""So many of somebody's newest notices are listed, every channel counting as one."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing somebody was to be told, and what became of it in each channel.

    `view` is the table as they may see it; None for one that is closed to them, and where there is no table.
    """

    notices: tuple[Notice, ...]
    view: GameView | None

    @property
    def first(self) -> Notice:
        return self.notices[0]

    @property
    def shown(self) -> Notice | None:
        """The notice on the site, if it was shown."""
        return next((row for row in self.notices if row.channel == SITE and row.state == Notice.State.SENT), None)

    @property
    def needless(self) -> bool:
        """Whether nothing came of it, for reasons that are as they should be."""
        return all(row.state == Notice.State.DROPPED and row.reason in EXPECTED for row in self.notices)


def told_to(user: User) -> list[Told]:
    """What this person was told lately, or would have been, newest first. At most three queries."""
    rows = _known(Notice.objects.filter(user=user).order_by("-pk")[:LISTED])
    views = views_for(user, tables_of(games_in(rows)))
    groups: dict[tuple[int | None, int, str, int], list[Notice]] = {}
    for row in rows:
        groups.setdefault((row.game_id, row.version, row.kind, row.mark), []).append(row)
    return [
        Told(tuple(sorted(group, key=lambda row: row.pk)), views.get(group[0].game_id or 0))
        for group in groups.values()
    ]


def games_in(rows: Iterable[Notice]) -> set[int]:
    """The numbers of the games that these notices are about."""
    return {row.game_id for row in rows if row.game_id is not None}


def views_for(user: User, tables: Mapping[int, Table]) -> dict[int, GameView]:
    """These tables by number, as this person may see them, but for those that are closed to them, as after losing a
    seat. At most one query."""
    return {table.game.pk: queries.view_of(table, user) for table in queries.visible_to(user, tables.values())}


def tables_of(games: Collection[int]) -> dict[int, Table]:
    """These games by number, in one query. One that cannot be read is logged and left out: it is the others'
    readers who would miss theirs.

    :raises Error: what the database says.
    """
    try:
        return _read(games) if games else {}
    except Error:
        raise
    except Exception as error:  # noqa: BLE001  # of which game, is found out below
        log.warning("games are read one by one", error=type(error).__name__)
    found: dict[int, Table] = {}
    for number in games:
        try:
            found |= _read([number])
        except Error:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the others are read
            # Never the traceback's values: they hold cards.
            log.error("a game cannot be read", game=number, error=type(error).__name__)  # noqa: TRY400  # as said
    return found


def _read(games: Collection[int]) -> dict[int, Table]:
    return {table.game.pk: table for table in queries.with_tables(Game.objects.filter(pk__in=games))}


@dataclass(frozen=True, slots=True)
class Badges:
    """What every page counts for its reader: the games that `lists.waiting_for` finds, and the unread notices."""

    turns: int = 0
    notices: int = 0


def badges_of(user: User) -> Badges:
    """Return this person's counts, without notices of kinds that no page shows. Runs one query."""
    return Badges(*count_badges(user.pk, list(KINDS)))


def settings_of(user: User) -> NoticeSettings:
    """What this person wants to be told; the usual if they never said."""
    return NoticeSettings.objects.filter(user=user).first() or NoticeSettings(user=user)


def news_of_the_day(user: User, now: datetime) -> Sequence[Notice]:
    """What happened to this person within a day and is not read yet, newest first."""
    rows = Notice.objects.filter(user=user, channel=SITE, created_at__gte=now - A_DAY, read_at=None)
    return _known(rows.filter(state=Notice.State.SENT).exclude(text="").order_by("-pk")[:MOST_NEWS])


def _known(rows: Iterable[Notice]) -> list[Notice]:
    """Those that this release can tell of; what a later one has written, before the site went back, is passed over."""
    known, strange = [], set()
    for row in rows:
        if row.kind in KINDS and row.channel in CHANNELS:
            known.append(row)
        else:
            strange.add(f"{row.kind} by {row.channel}")
    if strange:
        log.warning("notices of another release are passed over", kinds=sorted(strange))
    return known


def anything_to_sum_up(user: User, now: datetime) -> bool:
    """Whether a summary would tell this person anything."""
    return bool(lists.count_waiting_for(user) or news_of_the_day(user, now))


def mail_is_held() -> Outbox | None:
    """The outbox while its mail is held back; None while it flows."""
    return Outbox.objects.filter(held_since__isnull=False).first()
