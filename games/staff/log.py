"""Make the notes between the moves in a table's log: staff acts, and events like a pause."""

from __future__ import annotations

import heapq
from operator import attrgetter

from accounts.models import User
from games.actions import table_events
from games.models.log_rows import EventRow
from games.queries import Table, conduct
from games.queries.conduct import DoneAct, You
from games.queries.former_holders import holders_of, name_between
from games.render import LogNote
from games.render.log_rows import sentence_case
from games.staff import acts
from games.staff.acts import TABLE_ACTS


def notes_of(
    table: Table, *, reader: User | None, since: int = 0, until: int | None = None, last: int | None = None
) -> list[LogNote]:
    """Return the notes that this reader sees between the moves of this table, oldest first. Runs one query.

    Never includes the reasons of staff acts.

    :param since: the first version.
    :param until: the last version, if given.
    :param last: return only this many of the newest notes, if given.
    """
    game = table.game
    shown = [act.name for act in TABLE_ACTS.values() if act.log_sentence and (game.ended or not act.after_the_end)]
    done, events = conduct.between_moves(
        game, acts=shown, kinds=list(table_events.KINDS), reader=reader, since=since, until=until, last=last
    )
    you = table.seat_of(reader)
    # Events that a staff act caused have the same time. The merge is stable, so they follow the act.
    notes = heapq.merge(
        (note for one in done for note in (_note_of_act(one), _words_of(one)) if note.text),
        (_note_of_event(table, event, you) for event in events),
        key=attrgetter("version", "at"),
    )
    newest_last = list(notes)
    return newest_last[-last:] if last else newest_last


def _note_of_act(done: DoneAct) -> LogNote:
    act = TABLE_ACTS[done.act]
    assert act.log_sentence is not None
    moved = act is acts.MOVE_SEAT
    given = moved and done.person is You.YOU
    return LogNote(
        done.version,
        done.at,
        act.log_sentence(done),
        ends_round=act.ends_round,
        in_news=(moved and not given) or (act is acts.REMOVE and bool(done.details.get("bot"))),
        seats_reader=given and not done.details.get("back"),
        pauses=act is acts.PAUSE,
    )


def _words_of(done: DoneAct) -> LogNote:
    """Return the note with what staff said to the table, without a text if they said nothing."""
    said = done.details.get("said", "")
    text = f"Staff say: “{said}”" if said else ""
    act = TABLE_ACTS[done.act]
    return LogNote(
        done.version, done.at, text, ends_round=act.ends_round, in_news=True, said=True, pauses=act is acts.PAUSE
    )


def _note_of_event(table: Table, event: EventRow, you: int | None) -> LogNote:
    kind = table_events.KINDS[event.kind]
    if event.seat is None:
        return LogNote(event.version, event.at, kind.sentence)
    former = name_between(holders_of(table.seats, event.changes), event.seat, event.version, event.at)
    sentence = kind.to_owner if event.seat == you and former is None else kind.sentence
    text = sentence.format(name=former or table.seats[event.seat].name)
    return LogNote(event.version, event.at, sentence_case(text))
