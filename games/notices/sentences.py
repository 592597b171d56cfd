"""Say what happened, from the names of sentences and the facts that a notice keeps, with the names of today.

A fact is a text, a number, or one of the objects that `people`, `time` and `event` return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import structlog

from accounts.models import User
from accounts.names import BOT_NAMES, deleted_name
from accounts.zones import formatted
from common.readers_language import say
from common.say import N_
from games import rules
from games.models import Game, Notice, Seat
from games.models.owner_changes import read_owner_changes
from games.notices.kinds import KINDS, title_of
from games.queries import Table
from games.render.log_rows import sentence_case
from games.render.words import listed, of_bot
from mail.models import TEXT_LENGTH

log = structlog.get_logger(__name__)

EVENT: Final = "event"
"""The name of the sentence that the log says of the fact of the same name (`event`)."""

Who = int | str
"""The id of a person, whose name may change, or the name of a bot."""


def people(*who: Who) -> dict[str, Any]:
    """Return people and bots as a fact, which is said as a list of their names."""
    return {"people": who}


def time(at: datetime) -> dict[str, Any]:
    """Return a time as a fact, which is said in the time zone of the reader."""
    return {"time": at.isoformat()}


def others(table: Table, seat: Seat) -> dict[str, Any]:
    """Return everybody at a table but this seat as a fact. See `who_sits`."""
    return people(*who_sits(table.game, [other for other in table.seats if other.index != seat.index]))


def event(who: Sequence[Who], happened: rules.Event, *, reader: int, bot: bool = False) -> dict[str, Any]:
    """Return an event of the rules as a fact, without what the reader's seat may not know.

    `who` has who sits at the table (`who_sits`). `bot`: a bot acted for the owner of the event's seat.
    """
    shown = rules.redact([happened], reader, over=False)[0].to_json()
    return {"event": shown, "people": who, "reader": reader, "bot": bot}


def who_sits(game: Game, seats: Sequence[Seat]) -> list[Who]:
    """Return who has each of these seats of a game. Runs at most one query.

    A seat has the name of a person, but not the person, if staff removed them.
    """
    removed: dict[int, int | None] = {}
    if any(seat.user_id is None and seat.name not in BOT_NAMES for seat in seats):
        removed = {change.seat: change.owner if change.removed else None for change in read_owner_changes(game.pk)}
    return [seat.user_id or removed.get(seat.index) or seat.name for seat in seats]


def names_in(rows: Iterable[Notice]) -> dict[int, str]:
    """Return the current names of the people in these notices, by id. Runs at most one query.

    Leaves out people whose account is deleted.
    """
    facts = [fact for row in rows for fact in row.facts.values() if isinstance(fact, dict)]
    lists = [fact["people"] for fact in facts if isinstance(fact.get("people"), list)]
    ids = {who for found in lists for who in found if isinstance(who, int)}
    return {user.pk: user.name for user in User.objects.filter(pk__in=ids)} if ids else {}


def text_of(row: Notice, names: Mapping[int, str], zone: str) -> str:
    """Return what a notice says, or "" if only the page of its game does.

    If it was written by a later release, before a downgrade, return the title of its kind.

    :param names: from `names_in`.
    :param zone: the time zone of its reader.
    """
    if not row.said:
        return row.text
    try:
        words = {name: _words(fact, names, zone) for name, fact in row.facts.items()}
        sentences = KINDS[row.kind].sentences
        said = [
            words[EVENT] if name == EVENT else say.text("notice", sentences[name], **words) for name in row.said.split()
        ]
    except (LookupError, TypeError, ValueError) as error:
        log.warning("a notice of another release is shown by its title", notice=row.pk, error=type(error).__name__)
        return title_of(row.kind)
    return " ".join(said)[:TEXT_LENGTH]


def fact_of(row: Notice, name: str, names: Mapping[int, str]) -> str:
    """Return a fact of a notice in words, with `names` from `names_in`."""
    return _words(row.facts[name], names, row.user.time_zone)


def _words(fact: Any, names: Mapping[int, str], zone: str) -> str:
    match fact:
        case str():
            return fact
        case int():
            return say.number(fact)
        case {"event": happened, "people": who, "reader": reader, "bot": bot}:
            return _event(rules.Event.from_json(happened), _names(who, names), reader, bot=bot)
        case {"people": who}:
            return listed(_names(who, names))
        case {"time": at}:
            return formatted(datetime.fromisoformat(at), N_("j F Y, H:i T"), zone)
    raise ValueError


def _names(who: Iterable[Who], names: Mapping[int, str]) -> list[str]:
    return [one if isinstance(one, str) else names.get(one, deleted_name(one)) for one in who]


def _event(happened: rules.Event, names: Sequence[str], reader: int | None, *, bot: bool) -> str:
    if bot:
        names, reader = of_bot(names, happened.seat, reader)
    return sentence_case(rules.sentence(happened, reader, names, say=say))
