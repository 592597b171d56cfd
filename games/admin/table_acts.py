"""What staff can do at a table, each with the page that says what will happen."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django import forms

from games.actions.clocks.stops import LONGEST_EXTENSION
from games.actions.moderation import tables
from games.admin.acts import Act, ActPage, Doing, ReasonForm
from games.models import AuditEntry
from games.queries import Table

TOLD: Final = "The log at the table says that staff did this, and when, but not why."
LONGEST_MINUTES: Final = LONGEST_EXTENSION // timedelta(minutes=1)


class SeatForm(ReasonForm):
    """Asks for a seat that a person holds."""

    seat = forms.TypedChoiceField(coerce=int, label="Seat")

    def __init__(self, *args: Any, table: Table, **kwargs: Any) -> None:
        super().__init__(*args, table=table, **kwargs)
        seat = self.fields["seat"]
        assert isinstance(seat, forms.TypedChoiceField)
        seat.choices = [(row.index, f"{row.index + 1}: {row.name}") for row in table.seats if row.user_id is not None]


class RemoveForm(SeatForm):
    instead = forms.ChoiceField(
        label="What becomes of the seat",
        choices=[
            ("bot", "A bot takes it and plays on with the hand"),
            ("aside", "It is out, and its hand is set aside"),
        ],
        widget=forms.RadioSelect,
    )


class MoveSeatForm(SeatForm):
    username = forms.CharField(label="New owner (username)", max_length=150)


class MinutesForm(ReasonForm):
    minutes = forms.IntegerField(label="Minutes", min_value=1, max_value=LONGEST_MINUTES, initial=60)


def _extend(doing: Doing) -> AuditEntry:
    return tables.extend(minutes=doing.more["minutes"], **_common(doing))


def _forgive(doing: Doing) -> AuditEntry:
    return tables.forgive(seat=doing.more["seat"], **_common(doing))


def _remove(doing: Doing) -> AuditEntry:
    return tables.remove(seat=doing.more["seat"], bot=doing.more["instead"] == "bot", **_common(doing))


def _move_seat(doing: Doing) -> AuditEntry:
    return tables.move_seat(seat=doing.more["seat"], username=doing.more["username"], **_common(doing))


def _common(doing: Doing) -> dict[str, Any]:
    return {"game_id": doing.subject, "by": doing.by, "reason": doing.reason, "now": doing.now}


OPEN: Final = frozenset({"open"})
PLAYING: Final = frozenset({"playing"})

PAGES: Final = {
    page.act.value: page
    for page in (
        ActPage(
            Act.PAUSE,
            ("The clock stops, bots wait, and moves are refused until staff resume.", TOLD),
            lambda doing: tables.pause(**_common(doing)),
            ReasonForm,
            PLAYING,
        ),
        ActPage(
            Act.RESUME,
            (
                "The clock runs on where it stood.",
                "A pause that the players agreed on ends only if staff have not paused the game as well.",
                TOLD,
            ),
            lambda doing: tables.resume(**_common(doing)),
            ReasonForm,
            PLAYING,
        ),
        ActPage(Act.EXTEND, ("The current turn gets this many more minutes.", TOLD), _extend, MinutesForm, PLAYING),
        ActPage(
            Act.FORGIVE,
            ("The missed turns no longer count against the seat, and it has its first thinking time again.", TOLD),
            _forgive,
            SeatForm,
            PLAYING,
        ),
        ActPage(
            Act.REMOVE,
            (
                "The person leaves this game for good and cannot take the seat back.",
                "A bot plays on under their name; or the hand is set aside and they are out, as if they had resigned.",
                "At a table that has not started, the seat is simply free again.",
                TOLD,
            ),
            _remove,
            RemoveForm,
            OPEN | PLAYING,
        ),
        ActPage(
            Act.MOVE_SEAT,
            (
                "The new person gets the seat with its hand and score, and sees that hand.",
                "If it is the seat’s turn, the turn begins anew. Both people are told.",
                TOLD,
            ),
            _move_seat,
            MoveSeatForm,
            OPEN | PLAYING,
        ),
        ActPage(
            Act.VOID_ROUND,
            (
                "The round counts for nothing, and its hands and shuffle are shown to all.",
                "The same round is dealt anew, by the same dealer. Scores stay; who has left stays out.",
                TOLD,
            ),
            lambda doing: tables.void_round(**_common(doing)),
            ReasonForm,
            PLAYING,
        ),
        ActPage(
            Act.VOID_GAME,
            ("The game ends at once, without a winner. It cannot be taken back.", TOLD),
            lambda doing: tables.void_game(**_common(doing)),
            ReasonForm,
            PLAYING,
        ),
        ActPage(
            Act.CLOSE,
            ("The table closes before it starts, and everybody there is told.", TOLD),
            lambda doing: tables.close(**_common(doing)),
            ReasonForm,
            OPEN,
        ),
        ActPage(
            Act.LOOK,
            (
                "Every hand of the round is shown on one page. Loading it again is another look, with its own entry.",
                "The players are told that staff looked, and when, as soon as the game is over.",
                "It is refused if you play anywhere with somebody of this table.",
            ),
            lambda doing: tables.look(**_common(doing))[0],
            ReasonForm,
            PLAYING,
        ),
    )
}
"""Each act at a table, by its name in addresses."""
