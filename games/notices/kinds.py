"""All kinds of notices. One row holds everything the site knows about a kind.

To add a kind, write its row here and call `games.notices.player_notices.write` where the event happens. Everything else
reads this table: the settings page, the bell, the mails, the check before sending and the staff pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, Protocol

from django.db.models import TextChoices

from accounts.mails import Reason as AccountReason
from games.models import Game, Notice, NoticeSettings
from games.models.notices import EMAIL, SITE

if TYPE_CHECKING:
    from games.queries import Table

CHANNELS: Final[dict[str, str]] = {SITE: "On this site", EMAIL: "By email"}
"""The name of each channel on pages. `notices/outbox.py` has the sender of each."""

TURN: Final = "turn"
DEADLINE: Final = "deadline"
BOT_TOOK_OVER: Final = "bot_took_over"
TAKEN_OUT: Final = "taken_out"
DAY_TAKEN: Final = "day_taken"
CAUGHT: Final = "caught"
OUT: Final = "out"
ROUND_OVER: Final = "round_over"
GAME_OVER: Final = "game_over"
INVITED: Final = "invited"
TABLE_FULL: Final = "table_full"
SEAT_MOVED: Final = "seat_moved"
REPORT_SETTLED: Final = "report_settled"
FACTOR_DROPPED: Final = "factor_dropped"
DIGEST: Final = "digest"
"""The name of each kind, as notices, settings and the links in mails store it. A name never changes."""


class Reason(TextChoices):
    """Why a notice was not sent or is still waiting, with the sentence that its reader sees."""

    MOVED = "moved", "You moved before it was due."
    MOVED_ON = "moved_on", "It was no longer your turn."
    JOINED = "joined", "You had already joined that table."
    OVER = "over", "The game was over, or had begun without you."
    LATER = "later", "The deadline had been moved."
    LOOKING = "looking", "You were looking at the game."
    READ = "read", "You had already read it."
    BACK = "back", "You already had your seat back."
    STAFF = "staff", "Staff had changed your seat by then."
    REMINDED = "reminded", "A reminder about the same turn was sent instead."
    ASKED = "asked", "The same person had asked you by email less than a day before."
    OFF = "off", "This is switched off in your notice settings."
    NO_ADDRESS = "no_address", "Your account has no email address."
    UNVERIFIED = "unverified", "Your email address is not confirmed."
    BOUNCED = "bounced", "Emails to your address came back."
    CLOSED = "closed", "Your account was closed or suspended."
    NOTHING = "nothing", "There was nothing to sum up."
    PAUSED = "paused", "The game is paused."
    VACATION = "vacation", "You are on vacation."
    NIGHT = "night", "These are your quiet hours."
    AGAIN = "again", "The mail server did not take it. We will try again."
    SERVER = "server", "The mail server could not be reached. We will try again."
    REFUSED = "refused", "The mail server says that your address accepts no mail."
    GAVE_UP = "gave_up", "The mail server did not take it, and we have stopped trying."
    FAULT = "fault", "Something went wrong on our side. It is in the site’s log."
    UNSURE = "unsure", "The site stopped while sending it. It may or may not have arrived."


EXPECTED: Final = frozenset(
    {
        Reason.MOVED, Reason.MOVED_ON, Reason.JOINED, Reason.LOOKING, Reason.REMINDED, Reason.READ, Reason.BACK,
        Reason.STAFF, Reason.OFF, Reason.ASKED,
    }
)  # fmt: skip
"""Reasons that say nothing went wrong: pages hide notices that were dropped for one of these."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with a notice that is due.

    Without a `reason`, send it. With one, drop it, or look again at `until` if that is given.
    """

    reason: Reason | AccountReason | Literal[""] = ""
    until: datetime | None = None


SEND: Final = Verdict()
PAUSE_WAIT: Final = timedelta(minutes=15)


class Facts(Protocol):
    """What the test of a kind can ask about the moment when a notice is due."""

    @property
    def now(self) -> datetime: ...

    def table_of(self, notice: Notice) -> Table:
        """Return the table of a notice that is about a game."""

    def anything_to_sum_up(self, notice: Notice) -> bool:
        """Return True if a summary would tell this person anything. Runs two queries."""


Test = Callable[[Notice, Facts], Verdict]


def _always(notice: Notice, facts: Facts) -> Verdict:
    return SEND


def _turn_is_not_over(notice: Notice, facts: Facts) -> Verdict:
    table = facts.table_of(notice)
    if table.game.status != Game.Status.PLAYING:
        return Verdict(Reason.OVER)
    seat = None if table.playing is None or table.playing.over else table.on_turn
    if seat is None or seat.user_id != notice.user_id or seat.bot:
        return Verdict(Reason.MOVED_ON)
    return SEND if table.game.paused_at is None else Verdict(Reason.PAUSED, facts.now + PAUSE_WAIT)


def _deadline_has_not_moved(notice: Notice, facts: Facts) -> Verdict:
    verdict, deadline = _turn_is_not_over(notice, facts), facts.table_of(notice).game.deadline
    if verdict == SEND and (deadline is None or int(deadline.timestamp()) != notice.mark):
        return Verdict(Reason.LATER)
    return verdict


def _has_not_joined(notice: Notice, facts: Facts) -> Verdict:
    table = facts.table_of(notice)
    if table.seat_of(notice.user) is not None:
        return Verdict(Reason.JOINED)
    return SEND if table.game.status == Game.Status.OPEN else Verdict(Reason.OVER)


def _bot_holds_the_seat(notice: Notice, facts: Facts) -> Verdict:
    """Accept a game that is over as well: the bot may have held the seat until its end."""
    table = facts.table_of(notice)
    if table.game.status not in (Game.Status.PLAYING, Game.Status.OVER):
        return Verdict(Reason.OVER)
    index = table.seat_of(notice.user)
    if index is None or table.seats[index].left:
        return Verdict(Reason.STAFF)  # only staff take away a seat that a bot holds for its owner
    return SEND if table.seats[index].held_for_owner else Verdict(Reason.BACK)


def _anything_to_sum_up(notice: Notice, facts: Facts) -> Verdict:
    return SEND if facts.anything_to_sum_up(notice) else Verdict(Reason.NOTHING)


@dataclass(frozen=True, slots=True)
class NoticeKind:
    """One kind of notice.

    name: What is stored.
    title: The name on pages and in mails.
    help: One sentence for the settings page.
    channels: Where such notices go unless the person chose otherwise.
    wait: The time between the event and the check whether the notice is still needed.
    still_needed: That check. It runs when the notice is due, before anything is shown or sent.
    turn: It is about the player's turn. It carries no text, because the game itself says it; it is void once the
        turn is over; and its mail does not wait for the morning if the turn ends before or soon after.
    page: For kinds that are about no table, the name of the page that says more.
    while_viewing: Tell also players who have the game open.
    on_vacation, in_quiet_hours: Send the mail then, too, instead of waiting for the end.
    to_staff: Show in the staff's list that it was sent.
    replaces: The kind of notice about the same game whose mail is dropped when a mail of this kind is sent.
    one_mail: Send all mails of this kind to one person as one mail, as soon as the first is due.
    template: The mail's templates, `emails/<template>_subject.txt`, `_body.txt` and `_body.html`.
    link: What the mail's link to a table says while the game is being played.
    several: What a mail about more than one such event counts.
    time_left_first: Begin the mail's subject with the time that is left.
    """

    name: str
    title: str
    help: str
    channels: frozenset[str] = frozenset({EMAIL, SITE})
    wait: timedelta = timedelta(0)
    still_needed: Test = _always
    turn: bool = False
    page: str = ""
    while_viewing: bool = False
    on_vacation: bool = False
    in_quiet_hours: bool = False
    to_staff: bool = True
    replaces: str = ""
    one_mail: bool = False
    template: str = "news"
    link: str = "Open the table"
    several: str = "tables"
    time_left_first: bool = False


_SITE_ONLY: Final = frozenset({SITE})
_ROWS: Final = (
    NoticeKind(
        TURN,
        "Your turn",
        "A few minutes after it becomes your turn, unless you have moved or have the game open.",
        wait=timedelta(minutes=5),
        still_needed=_turn_is_not_over,
        turn=True,
        one_mail=True,
        template="turn",
    ),
    NoticeKind(
        DEADLINE,
        "Your time runs out",
        "Once, when four fifths of your time are gone. At night only if your time ends soon after it.",
        still_needed=_deadline_has_not_moved,
        turn=True,
        replaces=TURN,
        template="turn",
        time_left_first=True,
    ),
    NoticeKind(
        BOT_TOOK_OVER,
        "A bot plays for you",
        "You missed so many turns in a row that a bot plays your hand until you take your seat back.",
        still_needed=_bot_holds_the_seat,
        while_viewing=True,  # they were not there, even if a page was open
        link="Take your seat back",
    ),
    NoticeKind(
        TAKEN_OUT,
        "You missed too many turns",
        "You missed so many turns in a row that you are out of the game: at that table no bot takes over.",
        while_viewing=True,  # as above
    ),
    NoticeKind(
        DAY_TAKEN,
        "A day of vacation is taken",
        "Your time ran out, and a day of vacation was taken instead of a missed turn.",
        page="rest",
        on_vacation=True,  # it is news about that vacation
        several="times",
    ),
    NoticeKind(CAUGHT, "You were caught", "Somebody caught you with one card and no UNO.", _SITE_ONLY),
    NoticeKind(OUT, "You are out", "You reached the mercy limit.", _SITE_ONLY),
    NoticeKind(ROUND_OVER, "A round is over", "A round of a match has a winner.", _SITE_ONLY),
    NoticeKind(
        GAME_OVER,
        "A game is over",
        "A game or a match has a winner or is called off, or your table closes before the game begins.",
    ),
    NoticeKind(
        INVITED,
        "You are invited",
        "Somebody asks you for a rematch.",
        wait=timedelta(minutes=2),
        still_needed=_has_not_joined,
    ),
    NoticeKind(
        TABLE_FULL,
        "Your table is full",
        "The last seat is taken, and the game begins.",
        wait=timedelta(minutes=1),
    ),
    NoticeKind(
        SEAT_MOVED,
        "Staff change your seat",
        "Staff give your seat to somebody else or to a bot, or somebody else’s to you.",
        while_viewing=True,  # the open page only shows that the seat is gone, not why
    ),
    NoticeKind(
        REPORT_SETTLED,
        "Your report is settled",
        "Staff have looked at what you reported, and say what came of it.",
        page="reports",
        to_staff=False,  # a member of staff could read there who reported them
        several="reports",
    ),
    NoticeKind(
        FACTOR_DROPPED,
        "Your second factor is gone",
        "Staff removed your authenticator app and recovery codes, because you had lost them.",
        page="mfa_index",
        on_vacation=True,  # somebody else may have asked for it
        in_quiet_hours=True,
        several="times",
    ),
    NoticeKind(
        DIGEST,
        "The day’s summary",
        "",
        frozenset(),
        still_needed=_anything_to_sum_up,
        on_vacation=True,  # the person chose the hour
        in_quiet_hours=True,
        template="digest",
    ),
)

KINDS: Final[dict[str, NoticeKind]] = {kind.name: kind for kind in _ROWS}
"""Every kind by name, in the order of the settings page."""
SWITCHED: Final = tuple(kind for kind in _ROWS if kind.name != DIGEST)
"""The kinds that have a switch for each channel. The summary has an hour instead, and goes by email only."""
OF_A_TURN: Final = tuple(kind.name for kind in _ROWS if kind.turn)


def title_of(name: str) -> str:
    """Return the title of a kind, or its name if it was written by a later release."""
    return KINDS[name].title if name in KINDS else name


def sentence_of(reason: str) -> str:
    """Return the sentence for a stored reason, or the reason if it was written by a later release."""
    return Reason(reason).label if reason in Reason.values else reason


def wants(settings: NoticeSettings, kind: str, channel: str) -> bool:
    """Return True if the person of these settings wants notices of this kind through this channel."""
    return bool(settings.choices.get(f"{kind}.{channel}", channel in KINDS[kind].channels))
