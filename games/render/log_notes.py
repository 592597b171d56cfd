"""The notes between the moves of a log: what it says of a staff act, and of an event such as a pause.

Each act at a table has a row in `ACTS` and each kind of event one in `EVENTS`. The log shows nothing without a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from games.models import Game, TableEvent
from games.models.moderation import CLOSE, LOOK, MOVE_SEAT, REMOVE, VOID_GAME
from games.queries import DoneAct, PastEvent, You
from games.queries.former_holders import FORMER_PLAYER
from games.render.log_rows import LogNote, sentence_case
from games.render.words import counted, in_one_unit, possessive, round_cancelled


class ActNote(NamedTuple):
    """What the log says of a kind of staff act.

    `sentence` returns it in the past tense, or "" if a line of the log says it already. `ends_round`: the act ends the
    current round. `pauses`: it pauses the game.
    """

    sentence: Callable[[DoneAct], str]
    ends_round: bool = False
    pauses: bool = False


class EventNote(NamedTuple):
    """What the log says of a kind of event. `to_you` is its sentence for the person in the seat, if it differs."""

    sentence: str
    to_you: str = ""


def _who(name: str | You | None) -> str:
    if name is You.YOU:
        return "you"
    return "a bot" if name is None else name or FORMER_PLAYER


def _whose(name: str | You | None) -> str:
    return "your" if name is You.YOU else possessive(_who(name))


def _text(sentence: str) -> Callable[[DoneAct], str]:
    return lambda done: sentence


def _resumed(done: DoneAct) -> str:
    if done.details.get("pause") == Game.PAUSED_BY_CONSENT:
        return "Staff ended the agreed pause."
    if done.details.get("still_paused"):
        return "Staff ended their pause. The game is still paused."
    return "Staff resumed the game."


def _extended(done: DoneAct) -> str:
    return f"Staff gave {_who(done.person)} {in_one_unit(done.details['minutes'])} more for the turn."


def _forgiven(done: DoneAct) -> str:
    misses: int = done.details["misses"]
    return f"Staff removed {counted(misses, 'missed turn')} from {_whose(done.person)} count."


def _voided(done: DoneAct) -> str:
    return round_cancelled(done.details["round"])


def _removed(done: DoneAct) -> str:
    link = "The old link to the table no longer works." if done.details.get("new_link") else ""
    if done.details.get("bot") is False:  # the next line of the log says that staff took the player out
        return link
    then = ", and a bot took over the seat" if done.details.get("bot") else ""
    return f"Staff removed {_who(done.person)} from the table{then}. {link}".rstrip()


def _moved(done: DoneAct) -> str:
    if done.details.get("back"):
        return f"Staff gave {_who(done.person)} the seat back."
    seat = f"{_whose(done.before)} seat"
    return f"Staff gave you {seat}." if done.person is You.YOU else f"Staff gave {seat} to {_who(done.person)}."


_CLOSED: Final = "Staff closed the table before the game started."

ACTS: Final = {
    "pause": ActNote(_text("Staff paused the game."), pauses=True),
    "say": ActNote(_text("")),  # the note after it has what they said
    "resume": ActNote(_resumed),
    "extend": ActNote(_extended),
    "forgive": ActNote(_forgiven),
    REMOVE: ActNote(_removed),
    MOVE_SEAT: ActNote(_moved),
    "void_round": ActNote(_voided, ends_round=True),
    VOID_GAME: ActNote(_text("Staff ended the game without a winner.")),
    CLOSE: ActNote(_text(_CLOSED)),
    LOOK: ActNote(_text("Staff looked at the hands.")),
}
"""What the log says of each act at a table, by the name of its row in `games/staff/acts.py`."""

_KIND = TableEvent.Kind
EVENTS: Final = {
    _KIND.PAUSE_BEGAN: EventNote("The players agreed on a pause."),
    _KIND.PAUSE_ENDED: EventNote("{name} ended the agreed pause.", "You ended the agreed pause."),
    _KIND.PAUSE_RAN_OUT: EventNote(f"The agreed pause ended after {Game.LONGEST_PAUSE.days} days."),
    _KIND.PAUSE_ABANDONED: EventNote("The agreed pause ended because nobody was left who could end it."),
    _KIND.BOT_BEGAN: EventNote(
        "A bot now plays for {name} after too many missed turns.",
        "A bot now plays for you after too many missed turns.",
    ),
    _KIND.SEAT_TAKEN_BACK: EventNote(
        "{name} took the seat back from the bot.", "You took your seat back from the bot."
    ),
    _KIND.ACCOUNT_DELETED: EventNote("{name} has deleted the account. A bot plays the seat from now on."),
    _KIND.CLOSED_BY_STAFF: EventNote(_CLOSED),
}
"""What the log says of each kind of event. `{name}` is the current name of who had the seat then."""


def notes_of(happened: Iterable[DoneAct | PastEvent]) -> list[LogNote]:
    """Return the notes that a reader sees, in the same order. An act makes none, one or two.

    Acts and events of a later release make none, after a downgrade.
    """
    notes: list[LogNote] = []
    for one in happened:
        if isinstance(one, DoneAct):
            notes += _notes_of_act(one)
        elif one.kind in EVENTS:
            notes.append(_note_of_event(one))
    return notes


def _notes_of_act(done: DoneAct) -> list[LogNote]:
    """Return the notes with what staff did, and with what they said to the table, those that have a text."""
    row = ACTS.get(done.act)
    if row is None:
        return []
    moved, said = done.act == MOVE_SEAT, done.details.get("said", "")
    given = moved and done.person is You.YOU
    act = LogNote(
        done.version,
        done.at,
        row.sentence(done),
        ends_round=row.ends_round,
        in_news=(moved and not given) or (done.act == REMOVE and bool(done.details.get("bot"))),
        seats_reader=given and not done.details.get("back"),
        pauses=row.pauses,
    )
    words = LogNote(
        done.version,
        done.at,
        f"Staff say: “{said}”" if said else "",
        ends_round=row.ends_round,
        in_news=True,
        said=True,
        pauses=row.pauses,
    )
    return [note for note in (act, words) if note.text]


def _note_of_event(event: PastEvent) -> LogNote:
    row = EVENTS[TableEvent.Kind(event.kind)]
    text = row.to_you if event.name is You.YOU else row.sentence.format(name=event.name)
    return LogNote(event.version, event.at, sentence_case(text))
