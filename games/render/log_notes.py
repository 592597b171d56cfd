"""The notes between the moves of a log: what it says of a staff act, and of an event such as a pause.

Each act at a table has a row in `ACTS` and each kind of event one in `EVENTS`. The log shows nothing without a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games.models import Game, TableEvent
from games.models.moderation import CLOSE, LOOK, MOVE_SEAT, REMOVE, VOID_GAME
from games.models.paces import MINUTE, span
from games.queries import DoneAct, PastEvent, You
from games.queries.former_holders import former_player
from games.render.log_rows import LogNote, sentence_case
from games.render.words import round_cancelled


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


def _name(name: str | You | None) -> str:
    """Return a name for a sentence. Sentences about the reader do not show it."""
    return say.text("player", "a bot") if name is None else str(name) or former_player()


def _text(message: str) -> Callable[[DoneAct], str]:
    return lambda done: say.text("log", message)


def _resumed(done: DoneAct) -> str:
    if done.details.get("pause") == Game.PAUSED_BY_CONSENT:
        return say.text("log", "Staff ended the agreed pause.")
    if done.details.get("still_paused"):
        return say.text("log", "Staff ended their pause. The game is still paused.")
    return say.text("log", "Staff resumed the game.")


def _extended(done: DoneAct) -> str:
    time = span(done.details["minutes"] * MINUTE)
    if done.person is You.YOU:
        return say.text("log", "Staff gave you {time} more for the turn.", time=time)
    return say.text("log", "Staff gave {name} {time} more for the turn.", name=_name(done.person), time=time)


def _forgiven(done: DoneAct) -> str:
    message = _FORGIVEN[done.person is You.YOU]
    return say.form("log", message, done.details["misses"], name=_name(done.person))


_FORGIVEN: Final = {
    True: (
        N_("Staff removed {n} missed turn from your count."),
        N_("Staff removed {n} missed turns from your count."),
    ),
    False: (
        N_("Staff removed {n} missed turn from {name}’s count."),
        N_("Staff removed {n} missed turns from {name}’s count."),
    ),
}
"""By whether it is the reader who missed them."""


def _voided(done: DoneAct) -> str:
    return round_cancelled(done.details["round"])


def _removed(done: DoneAct) -> str:
    said = []
    bot = done.details.get("bot")
    if bot is not False:  # else the next line of the log says that staff took the player out
        message = _REMOVED[done.person is You.YOU, bool(bot)]
        said.append(say.text("log", message, name=_name(done.person)))
    if done.details.get("new_link"):
        said.append(say.text("log", "The old link to the table no longer works."))
    return " ".join(said)


_REMOVED: Final = {
    (True, True): N_("Staff removed you from the table, and a bot took over the seat."),
    (True, False): N_("Staff removed you from the table."),
    (False, True): N_("Staff removed {name} from the table, and a bot took over the seat."),
    (False, False): N_("Staff removed {name} from the table."),
}
"""By whether it is the reader, and whether a bot plays on."""


def _moved(done: DoneAct) -> str:
    if done.person is You.YOU:
        if done.details.get("back"):
            return say.text("log", "Staff gave you the seat back.")
        return say.text("log", "Staff gave you {name}’s seat.", name=_name(done.before))
    name = _name(done.person)
    if done.details.get("back"):
        return say.text("log", "Staff gave {name} the seat back.", name=name)
    if done.before is You.YOU:
        return say.text("log", "Staff gave your seat to {name}.", name=name)
    return say.text("log", "Staff gave {before}’s seat to {name}.", before=_name(done.before), name=name)


_CLOSED: Final = N_("Staff closed the table before the game started.")

ACTS: Final = {
    "pause": ActNote(_text(N_("Staff paused the game.")), pauses=True),
    "say": ActNote(lambda done: ""),  # the note after it has what they said
    "resume": ActNote(_resumed),
    "extend": ActNote(_extended),
    "forgive": ActNote(_forgiven),
    REMOVE: ActNote(_removed),
    MOVE_SEAT: ActNote(_moved),
    "void_round": ActNote(_voided, ends_round=True),
    VOID_GAME: ActNote(_text(N_("Staff ended the game without a winner."))),
    CLOSE: ActNote(_text(_CLOSED)),
    LOOK: ActNote(_text(N_("Staff looked at the hands."))),
}
"""What the log says of each act at a table, by the name of its row in `games/staff/acts.py`."""

_KIND = TableEvent.Kind
EVENTS: Final = {
    _KIND.PAUSE_BEGAN: EventNote(N_("The players agreed on a pause.")),
    _KIND.PAUSE_ENDED: EventNote(N_("{name} ended the agreed pause."), N_("You ended the agreed pause.")),
    _KIND.PAUSE_RAN_OUT: EventNote(N_("The agreed pause ended after {days} days.")),
    _KIND.PAUSE_ABANDONED: EventNote(N_("The agreed pause ended because nobody was left who could end it.")),
    _KIND.BOT_BEGAN: EventNote(
        N_("A bot now plays for {name} after too many missed turns."),
        N_("A bot now plays for you after too many missed turns."),
    ),
    _KIND.SEAT_TAKEN_BACK: EventNote(
        N_("{name} took the seat back from the bot."), N_("You took your seat back from the bot.")
    ),
    _KIND.ACCOUNT_DELETED: EventNote(N_("{name} has deleted the account. A bot plays the seat from now on.")),
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
        say.text("log", "Staff say: “{said}”", said=said) if said else "",
        ends_round=row.ends_round,
        in_news=True,
        said=True,
        pauses=row.pauses,
    )
    return [note for note in (act, words) if note.text]


def _note_of_event(event: PastEvent) -> LogNote:
    row = EVENTS[TableEvent.Kind(event.kind)]
    message = row.to_you if event.name is You.YOU else row.sentence
    text = say.text("log", message, name=event.name, days=Game.LONGEST_PAUSE.days)
    return LogNote(event.version, event.at, sentence_case(text))
