"""All kinds of notices. One row holds everything the site knows about a kind.

To add a kind, add its row here and call `games.notices.player_notices.write` where the event happens. Everything else
reads this table: the settings page, the bell, the mails, the check before sending and the staff pages. A row of the
database keeps the names of `sentences` and their facts, and `games.notices.sentences` says them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Protocol

from django.urls import reverse

from common.readers_language import say
from common.say import N_
from games.models import Game, Notice, NoticeSettings
from games.render.orders import ORDER_ENDED, WHY_ENDED
from mail.hooks import ERRORS
from mail.models import EMAIL, HOOK, PUSH, SITE
from mail.sources import Kind
from mail.verdicts import SEND, Reason, Verdict

if TYPE_CHECKING:
    from games.queries import Table

TURN: Final = "turn"
OTHERS_TURN: Final = "others_turn"
DEADLINE: Final = "deadline"
BOT_TOOK_OVER: Final = "bot_took_over"
TAKEN_OUT: Final = "taken_out"
DAY_TAKEN: Final = "day_taken"
CAUGHT: Final = "caught"
OUT: Final = "out"
ROUND_OVER: Final = "round_over"
ROUND_CANCELLED: Final = "round_cancelled"
GAME_OVER: Final = "game_over"
INVITED: Final = "invited"
TABLE_FULL: Final = "table_full"
SEAT_MOVED: Final = "seat_moved"
REPORT_SETTLED: Final = "report_settled"
OUTCOME_CHANGED: Final = "outcome_changed"
ROLE_CHANGED: Final = "role_changed"
FACTOR_DROPPED: Final = "factor_dropped"
APPEAL_DECIDED: Final = "appeal_decided"
NAME_CHANGED: Final = "name_changed"
WARNED: Final = "warned"
MUTED: Final = "muted"
SUSPENDED: Final = "suspended"
LIFTED: Final = "lifted"
UNMUTED: Final = "unmuted"
LINK_CHANGED: Final = "link_changed"
HOST_CHANGED: Final = "host_changed"
STAFF_SAID: Final = "staff_said"
ORDERS_ENDED: Final = "orders_ended"
HOOK_STOPPED: Final = "hook_stopped"
CASE_ARRIVED: Final = "case_arrived"
CASE_HANDED_OVER: Final = "case_handed_over"
APPEAL_ARRIVED: Final = "appeal_arrived"
DEVICE_TEST: Final = "device_test"
DIGEST: Final = "digest"
WORKS: Final = "works"
"""The name of each kind, as stored in notices, settings and links in mails. A name never changes."""


PAUSE_WAIT: Final = timedelta(minutes=15)


class Known(Protocol):
    """What the check of a kind can ask when a notice is due."""

    @property
    def now(self) -> datetime: ...

    def table_of(self, notice: Notice) -> Table:
        """Return the table of a notice that is about a game."""

    def is_looking(self, game_id: int, user_id: int) -> bool:
        """Return True if the reader, or the person on turn, is looking at the game."""

    def has_turn(self, notice: Notice) -> bool:
        """Return True if its reader gets a notice of a turn at the same version by the same channel. Runs a query."""

    def has_digest_content(self, notice: Notice) -> bool:
        """Return True if a summary for this person would not be empty. Runs two queries."""


Check = Callable[[Notice, Known], Verdict]


def _always(notice: Notice, known: Known) -> Verdict:
    return SEND


def _turn_is_not_over(notice: Notice, known: Known) -> Verdict:
    table = known.table_of(notice)
    if table.game.status != Game.Status.PLAYING:
        return Verdict(Reason.OVER)
    seat = None if table.playing is None or table.playing.over else table.on_turn
    if seat is None or seat.user_id != notice.user_id or seat.bot:
        return Verdict(Reason.MOVED_ON)
    return SEND if table.game.paused_at is None else Verdict(Reason.PAUSED, known.now + PAUSE_WAIT)


def _turn_of_other_is_not_over(notice: Notice, known: Known) -> Verdict:
    """Check as for a turn that the person on turn, at the reader's table, does not look at the game."""
    table, (player,) = known.table_of(notice), notice.facts["player"]["people"]
    game = table.game
    if game.status != Game.Status.PLAYING or game.host_id != notice.user_id:
        return Verdict(Reason.OVER)
    seat = None if table.playing is None or table.playing.over else table.on_turn
    newer = game.turn_since is not None and game.turn_since > notice.created_at
    if seat is None or seat.user_id != player or seat.bot or newer:
        return Verdict(Reason.MOVED_ON)
    if game.paused_at is not None:
        return Verdict(Reason.PAUSED, known.now + PAUSE_WAIT)
    return Verdict(Reason.LOOKING) if known.is_looking(game.pk, player) else SEND


def _turn_does_not_say_so(notice: Notice, known: Known) -> Verdict:
    """Check that no notice of the turn with which the game starts follows in the same channel."""
    return Verdict(Reason.TURN) if notice.channel != SITE and known.has_turn(notice) else SEND


def _deadline_has_not_moved(notice: Notice, known: Known) -> Verdict:
    verdict, deadline = _turn_is_not_over(notice, known), known.table_of(notice).game.deadline
    if verdict == SEND and (deadline is None or int(deadline.timestamp()) != notice.occasion):
        return Verdict(Reason.LATER)
    return verdict


def _has_not_joined(notice: Notice, known: Known) -> Verdict:
    table = known.table_of(notice)
    if table.seat_of(notice.user) is not None:
        return Verdict(Reason.JOINED)
    return SEND if table.game.status == Game.Status.OPEN else Verdict(Reason.OVER)


def _bot_plays_the_seat(notice: Notice, known: Known) -> Verdict:
    """Check that a bot still plays the seat, or played it until the game was over."""
    table = known.table_of(notice)
    if table.game.status not in (Game.Status.PLAYING, Game.Status.OVER):
        return Verdict(Reason.OVER)
    index = table.seat_of(notice.user)
    if index is None or table.seats[index].left:
        return Verdict(Reason.STAFF)  # only staff can take away a seat that a bot plays for its owner
    return SEND if table.seats[index].held_for_owner else Verdict(Reason.BACK)


def _is_suspended(notice: Notice, known: Known) -> Verdict:
    return SEND if notice.user.suspended(known.now) else Verdict(Reason.ENDED)


def _is_staff(notice: Notice, known: Known) -> Verdict:
    return SEND if notice.user.is_staff else Verdict(Reason.NO_ROLE)


def _has_digest_content(notice: Notice, known: Known) -> Verdict:
    return SEND if known.has_digest_content(notice) else Verdict(Reason.NOTHING)


@dataclass(frozen=True, slots=True)
class NoticeKind(Kind):
    """One kind of notice. `Kind` has what all kinds have.

    group: The name of its row among the settings (`GROUPS`). A kind without one always comes, on the site and by mail.
    sentences: What its notices say, by a name. A notice says one of these or several, one after another. Stored notices
        have the names, so a sentence that needs other facts gets another name. None names a card.
    wait: The time from the event until the notice is due.
    waits: The channels in which it waits for another time, with that time.
    still_needed: A check that runs when the notice is due, before it is shown or sent.
    page: For kinds that are not about a table, the name of the URL that says more.
    page_of_row: The URL takes the notice's occasion, here the number of a row, as its argument.
    query: The query string of that URL, with its question mark.
    while_viewing: Also notify players who are looking at the game (games/presence.py). Other kinds are dropped for a
        player who reads the same there, which somebody without a seat does not.
    to_unseated: Its readers have no seat yet: the page of the table asks them to join.
    to_suspended: List it on the page of a suspended person while it is unread.
    to_staff: Show such notices in the staff's list.
    replaces: The kind of notice about the same game whose mail is dropped when a mail of this kind is sent.
    one_mail: Send all mails of this kind to one person as one mail, as soon as the first is due.
    only_in: The only channel it goes by, if there is one.
    template: The mail's templates, `emails/<template>.txt` and `emails/<template>.html`.
    link: The text of the mail's link to a table while the game is running.
    several: What a mail says of `n` such events, in place of the title. Kinds with a layout of their own have none, nor
        have those without mails.
    names_game: Its sentence names the game, so the mail's subject does not name it again.
    reminds: The mail is about time that runs out.
    """

    group: str = ""
    sentences: Mapping[str, str] = field(default_factory=dict)
    wait: timedelta = timedelta(0)
    waits: Mapping[str, timedelta] = field(default_factory=dict)
    still_needed: Check = _always
    page: str = ""
    page_of_row: bool = False
    query: str = ""
    while_viewing: bool = False
    to_unseated: bool = False
    to_suspended: bool = False
    to_staff: bool = True
    replaces: str = ""
    one_mail: bool = False
    only_in: str = ""
    template: str = "news"
    link: str = N_("Open the table")
    several: str = ""
    names_game: bool = False
    reminds: bool = False

    def wait_in(self, channel: str) -> timedelta:
        """Return the time from the event until the notice is due in this channel."""
        return self.waits.get(channel, self.wait)

    @property
    def switch(self) -> str:
        """The name under which `NoticeSettings.choices` has what a person chose of this kind."""
        return self.group or self.name

    def goes_by(self, channel: str) -> bool:
        """Return True if such a notice goes by this channel, unless its reader has switched that off."""
        if self.only_in:
            return channel == self.only_in
        return bool(self.group) or channel in (SITE, EMAIL)

    def usual(self, channel: str) -> bool:
        """Return True if that is so for a person who has chosen nothing."""
        return not self.group or GROUPS[self.group].usual(channel)

    def path(self, occasion: int) -> str:
        """Return the path of the page that says more about a notice with this occasion, or ""."""
        if not self.page:
            return ""
        return reverse(self.page, args=[occasion] if self.page_of_row else None) + self.query


@dataclass(frozen=True, slots=True)
class Group:
    """Kinds of notices that a person switches on and off together: a row of the settings page.

    name: The stored value, which is that of its most important kind.
    title: The name on the settings page.
    help: What belongs to it, in a few words for a narrow column.
    channels: The channels in which it is on for a person who has chosen nothing. None for all.
    for_staff: Only staff get such notices.
    """

    name: str
    title: str
    help: str
    channels: frozenset[str] | None = None
    for_staff: bool = False

    def usual(self, channel: str) -> bool:
        """Return True if it is on in this channel for a person who has chosen nothing."""
        return self.channels is None or channel in self.channels


GROUPS: Final[dict[str, Group]] = {
    group.name: group
    for group in (
        Group(TURN, N_("My turn"), N_("A few minutes after it began.")),
        Group(DEADLINE, N_("Time runs short"), N_("A fifth is left, or a bot took over.")),
        Group(INVITED, N_("Invitations"), N_("To a table, or your table starts.")),
        Group(GAME_OVER, N_("Results"), N_("A game ends. Rounds and catches only here.")),
        Group(DIGEST, N_("Daily summary"), N_("By email, if there is news.")),
        Group(
            CASE_ARRIVED,
            N_("Cases"),
            N_("One arrives, or is handed over to you."),
            frozenset({SITE}),
            for_staff=True,
        ),
        Group(
            APPEAL_ARRIVED,
            N_("Appeals"),
            N_("An appeal waits for a decision."),
            frozenset({SITE, EMAIL}),
            for_staff=True,
        ),
    )
}
"""Every group by name, in the order of the settings page. The summary is mail only, and has an hour."""
_OUTCOMES: Final = {
    "acted": N_("We agreed and acted on it."),
    "nothing": N_("We found nothing against the rules."),
    "unclear": N_("We could not tell."),
    "badfaith": N_("It was reported in bad faith."),
}
"""The sentence for each `Case.Outcome`."""
_ROWS: Final = (
    NoticeKind(
        TURN,
        N_("Your turn"),
        group=TURN,
        wait=timedelta(minutes=5),
        waits={PUSH: timedelta(minutes=2)},
        still_needed=_turn_is_not_over,
        turn=True,
        one_mail=True,
        template="turn",
    ),
    NoticeKind(
        OTHERS_TURN,
        N_("A turn at your table"),
        wait=timedelta(minutes=5),
        still_needed=_turn_of_other_is_not_over,
        turn=True,
        on_vacation=True,  # it is for those who read the channel
        in_quiet_hours=True,
        while_viewing=True,
        only_in=HOOK,
        template="turn",
    ),
    NoticeKind(
        DEADLINE,
        N_("Your time is running out"),
        group=DEADLINE,
        still_needed=_deadline_has_not_moved,
        turn=True,
        while_viewing=True,  # the clock plays soon, and a sign of a person is no move
        replaces=TURN,
        template="turn",
        reminds=True,
    ),
    NoticeKind(
        BOT_TOOK_OVER,
        N_("A bot plays for you"),
        group=DEADLINE,
        sentences={"kept": N_("You missed too many turns, so a bot is keeping your seat warm. Take it back any time.")},
        still_needed=_bot_plays_the_seat,
        while_viewing=True,  # the player was away, even if a page was open
        link=N_("Take your seat back"),
        to_suspended=True,
        several=N_("A bot plays for you at {n} tables"),
    ),
    NoticeKind(
        TAKEN_OUT,
        N_("You missed too many turns"),
        group=DEADLINE,
        sentences={"out": N_("You missed too many turns, so you are out of the game.")},
        while_viewing=True,  # the player was away, even if a page was open
        to_suspended=True,
        several=N_("You are out of {n} games"),
    ),
    NoticeKind(
        DAY_TAKEN,
        N_("A vacation day was used"),
        group=DEADLINE,
        sentences={
            "taken": N_("A vacation day saved your turn: clocks that stop for vacations stand until {until}."),
            "left": N_("Days left this year: {days}."),
        },
        page="time-off",
        on_vacation=True,  # it is about that vacation
        several=N_("{n} vacation days were used"),
    ),
    NoticeKind(
        CAUGHT,
        N_("You were caught"),
        group=GAME_OVER,
        only_in=SITE,
    ),
    NoticeKind(
        OUT,
        N_("You are out"),
        group=GAME_OVER,
        only_in=SITE,
    ),
    NoticeKind(
        ORDERS_ENDED,
        N_("Your standing orders ended"),
        group=TURN,
        only_in=SITE,
        sentences={**ORDER_ENDED, **WHY_ENDED},
    ),
    NoticeKind(
        ROUND_OVER,
        N_("A round is over"),
        group=GAME_OVER,
        only_in=SITE,
        sentences={"over": N_("Round {number} is over.")},
    ),
    NoticeKind(
        ROUND_CANCELLED,
        N_("A round was cancelled"),
        sentences={"cancelled": N_("Staff cancelled round {number}; it was dealt again.")},
        while_viewing=True,  # an open page shows the new deal, even if the player looks away
        to_suspended=True,
        several=N_("{n} rounds of your games were cancelled"),
    ),
    NoticeKind(
        GAME_OVER,
        N_("A game is over"),
        group=GAME_OVER,
        sentences={
            "game_won": N_("{player} wins the game."),
            "game_won_by_you": N_("You win the game."),
            "game_won_by_bot": N_("{player}’s bot wins the game."),
            "game_won_by_your_bot": N_("Your bot wins the game."),
            "match_won": N_("{player} wins the match."),
            "match_won_by_you": N_("You win the match."),
            "match_won_by_bot": N_("{player}’s bot wins the match."),
            "match_won_by_your_bot": N_("Your bot wins the match."),
            "too_many_rounds": N_("This match was called off because nobody had won it by round {number}."),
            "too_many_moves": N_("This game was called off because it reached move {number}, the limit."),
            "not_started": N_("Your table was closed because not enough players joined in time."),
            "called_off": N_("Staff called off this game: nobody wins."),
            "closed": N_("Staff closed this table before the game started."),
            "looked": N_("Staff looked at hands while you were playing in a game that is over now, with {others}."),
        },
        to_suspended=True,
        several=N_("{n} of your games are over"),
    ),
    NoticeKind(
        INVITED,
        N_("You are invited"),
        group=INVITED,
        sentences={"rematch": N_("{player} invites you to a rematch.")},
        wait=timedelta(minutes=2),
        still_needed=_has_not_joined,
        to_unseated=True,
        several=N_("You have {n} invitations"),
    ),
    NoticeKind(
        TABLE_FULL,
        N_("Your table is full"),
        group=INVITED,
        sentences={
            "started": N_("{rules} with {others} has started."),
            "first": N_("You’re first."),
            "second": N_("You’re second."),
            "third": N_("You’re third."),
            "later": N_("You’re number {place}."),
        },
        wait=timedelta(minutes=1),
        still_needed=_turn_does_not_say_so,
        several=N_("{n} of your tables have started"),
        names_game=True,
    ),
    NoticeKind(
        SEAT_MOVED,
        N_("Staff changed your seat"),
        sentences={
            "given": N_("Staff gave your seat to {player}, at the table with {others}."),
            "given_alone": N_("Staff gave your seat to {player}."),
            "given_on": N_("Staff gave the seat that was yours to {player}, at the table with {others}."),
            "got_back": N_("Staff gave you your seat back."),
            "got": N_("Staff gave you the seat of {player}."),
            "removed": N_("Staff removed you from the table with {others}."),
            "removed_alone": N_("Staff removed you from your table."),
            "removed_for_bot": N_("Staff removed you and gave your seat to a bot, at the table with {others}."),
        },
        while_viewing=True,  # an open page shows that the seat is gone, but not why
        to_suspended=True,
        several=N_("Staff changed your seat at {n} tables"),
    ),
    NoticeKind(
        STAFF_SAID,
        N_("Staff said something to your table"),
        only_in=SITE,
        sentences={"said": N_("Staff say to your table: “{words}”")},
        while_viewing=True,  # an open page shows it in the log, which may be closed
        to_suspended=True,
    ),
    NoticeKind(
        LINK_CHANGED,
        N_("Your table has a new link"),
        only_in=SITE,
        sentences={
            "new_link": N_(
                "Staff removed {player} from your table. The old link no longer works: send the new one, on the page of"
                " the table, to the people you invited."
            ),
        },
        while_viewing=True,  # an open page shows the new link, but not that the old one is dead
    ),
    NoticeKind(
        HOST_CHANGED,
        N_("You are the host now"),
        only_in=SITE,
        sentences={"new_host": N_("Staff removed {player}, the host of your table. You are the host now.")},
        while_viewing=True,  # an open page shows the buttons of a host, but not why
    ),
    NoticeKind(
        REPORT_SETTLED,
        N_("Your report is settled"),
        sentences={"settled": N_("Staff have settled your report."), **_OUTCOMES},
        page="reports",
        to_staff=False,  # the list would show a staff member who reported them
        several=N_("{n} of your reports are settled"),
    ),
    NoticeKind(
        OUTCOME_CHANGED,
        N_("The outcome of your report changed"),
        sentences={
            "settled": N_("Staff have settled your report."),
            "changed": N_("Staff have changed the outcome of your report."),
            "answered": N_("Staff have changed their answer to your report. The outcome stays."),
            "reopened": N_("Staff are looking at your report again. The earlier outcome does not count any more."),
            **_OUTCOMES,
        },
        page="reports",
        to_staff=False,  # the list would show a staff member who reported them
        several=N_("The outcomes of {n} of your reports changed"),
    ),
    NoticeKind(
        ROLE_CHANGED,
        N_("Your role has changed"),
        only_in=SITE,
        sentences={
            "moderator": N_("You are a moderator of this site now. The staff pages need a second factor."),
            "admin": N_("You are an admin of this site now. The staff pages need a second factor."),
            "none": N_("You have no role on this site any more: the staff pages are closed to you."),
        },
        page="mfa_index",  # the staff pages need a second factor
    ),
    NoticeKind(
        FACTOR_DROPPED,
        N_("Your second factor was removed"),
        sentences={
            "removed": N_(
                "Staff removed your second factor, so you now log in with your password alone. If you did not ask for"
                " that, change your password and set up another second factor."
            ),
        },
        page="mfa_index",
        on_vacation=True,  # another person may have asked for it
        in_quiet_hours=True,
        to_suspended=True,
        several=N_("Your second factor was removed {n} times"),
    ),
    NoticeKind(
        APPEAL_DECIDED,
        N_("Your appeal is decided"),
        sentences={
            "granted": N_("Staff granted your appeal: the suspension is lifted."),
            "upheld": N_("Staff upheld your suspension."),
            "lifted": N_("Staff lifted your suspension, so your appeal is closed."),
            "replaced": N_(
                "Staff replaced your suspension by a new one, so your appeal is closed. You can appeal against the new"
                " suspension."
            ),
            "answer": N_("Their answer: {answer}"),
        },
        page="suspended",
        on_vacation=True,  # the vacation was chosen for games
        while_suspended=True,
        several=N_("{n} of your appeals are decided"),
    ),
    NoticeKind(
        NAME_CHANGED,
        N_("Staff changed your name"),
        sentences={
            "neutral": N_("Staff show you as {name} instead of your username. You still log in with your username."),
            "choose": N_("You can choose another name at the table in your account."),
            "choose_from": N_(
                "You can choose another name at the table in your account from {until}, when your mute ends."
            ),
            "reason": N_("Their reason: {reason}"),
            "restored": N_("Staff show your username again."),
            "username": N_("Staff changed your username to {username}."),
            "log_in": N_("Log in with it from now on."),
            "name": N_("Staff changed your name at the table to {name}."),
            "no_name": N_("Staff removed your name at the table."),
        },
        page="me",
        on_vacation=True,  # people need it to log in
        while_suspended=True,
        to_suspended=True,
        several=N_("Staff changed your name {n} times"),
    ),
    NoticeKind(
        WARNED,
        N_("Staff warned you"),
        sentences={"warned": N_("Staff warned you about your conduct: {reason}")},
        page="warnings",
        on_vacation=True,  # it is not about a game
        while_suspended=True,
        to_suspended=True,
        several=N_("Staff warned you {n} times"),
    ),
    NoticeKind(
        MUTED,
        N_("Staff muted you"),
        sentences={
            "muted": N_(
                "Staff muted you: you are shown as {name}, and can choose a name at the table again from {until}."
            )
        },
        page="me",
        on_vacation=True,  # it is not about a game
        while_suspended=True,
        to_suspended=True,
        several=N_("Staff muted you {n} times"),
    ),
    NoticeKind(
        UNMUTED,
        N_("Staff ended your mute"),
        sentences={"unmuted": N_("Staff ended your mute. You can choose a name again.")},
        page="me",
        on_vacation=True,  # it is not about a game
        while_suspended=True,
        to_suspended=True,
        several=N_("Staff ended {n} of your mutes"),
    ),
    NoticeKind(
        SUSPENDED,
        N_("Staff suspended your account"),
        sentences={
            "until": N_("Staff suspended you until {until}."),
            "for_good": N_("Staff suspended you for good."),
            "log_in": N_("Log in to read this and appeal."),
            "here": N_("You can appeal, in this browser only."),
            "reason": N_("“{reason}”"),  # the longest fits
        },
        still_needed=_is_suspended,
        page="suspended",
        on_vacation=True,  # it is not about a game
        while_suspended=True,
        several=N_("Staff suspended your account {n} times"),
    ),
    NoticeKind(
        LIFTED,
        N_("Staff lifted your suspension"),
        sentences={"lifted": N_("Staff lifted your suspension. You can use the site again.")},
        page="suspended",
        on_vacation=True,  # it is not about a game
        several=N_("Staff lifted {n} of your suspensions"),
    ),
    NoticeKind(
        HOOK_STOPPED,
        N_("Your webhook has stopped"),
        sentences={"stopped": N_("Your webhook at {host} has stopped after {failures} failures."), **ERRORS},
        page="hook",
        several=N_("Your webhook has stopped {n} times"),
    ),
    NoticeKind(
        CASE_ARRIVED,
        N_("A case has arrived"),
        group=CASE_ARRIVED,
        sentences={"arrived": N_("A new case waits: “{about}”.")},
        still_needed=_is_staff,
        page="admin:games_case_change",
        page_of_row=True,
        to_staff=False,  # whom it leaves out is reported or has reported
        one_mail=True,
        several=N_("{n} cases have arrived"),
    ),
    NoticeKind(
        CASE_HANDED_OVER,
        N_("A case was handed over to you"),
        group=CASE_ARRIVED,
        sentences={"handed_over": N_("A colleague handed a case over to you: “{about}”.")},
        still_needed=_is_staff,
        page="admin:games_case_changelist",
        query="?held=me",
        to_staff=False,
        several=N_("{n} cases were handed over to you"),
    ),
    NoticeKind(
        APPEAL_ARRIVED,
        N_("An appeal has arrived"),
        group=APPEAL_ARRIVED,
        sentences={"arrived": N_("An appeal waits for a decision.")},
        still_needed=_is_staff,
        page="admin:games_appeal_change",
        page_of_row=True,
        to_staff=False,
        one_mail=True,
        several=N_("{n} appeals have arrived"),
    ),
    NoticeKind(
        DEVICE_TEST,
        N_("Notifications reach this device"),
        only_in=PUSH,
        page="notice-settings",
        on_vacation=True,  # the person waits for it
        in_quiet_hours=True,
    ),
    NoticeKind(
        DIGEST,
        N_("Daily summary"),
        group=DIGEST,
        still_needed=_has_digest_content,
        on_vacation=True,  # the person chose the hour
        in_quiet_hours=True,
        template="digest",
    ),
)

KINDS: Final[dict[str, NoticeKind]] = {kind.name: kind for kind in _ROWS}
"""Every kind by name."""
TURN_KINDS: Final = tuple(kind.name for kind in _ROWS if kind.turn)
"""The names of the kinds that are dropped when the turn is over."""


def title_of(name: str) -> str:
    """Return the title of a kind, or its name if it was written by a later release."""
    return say.text("notice", KINDS[name].title) if name in KINDS else name


def row_title(kind: str) -> str:
    """Return the title of the row of the settings that switches this kind, or of the kind if it always comes."""
    group = KINDS[kind].group
    return say.text("notice", GROUPS[group].title) if group else title_of(kind)


def wants(settings: NoticeSettings, kind: str, channel: str) -> bool:
    """Return True if notices of this kind go by this channel with these settings."""
    row = KINDS[kind]
    return row.goes_by(channel) and bool(settings.choices.get(f"{row.switch}.{channel}", row.usual(channel)))
