"""All acts of staff. One row holds everything the site knows about an act, except the function that performs it.

To add an act, write its row here and its function in the module of its subject (`tables`, `people`, `accounts`,
`cases` and so on), and list the function in that module's `PERFORM`. Then add a migration that calls
`roles.set_roles`, which gives the permission to the groups. The pages, the audit log and the permissions read this
table. What the log of a table says of an act there is a row of `games/render/log_notes.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

from allauth.mfa.utils import is_mfa_enabled

from accounts import invitations
from accounts.models import User
from games.models import Announcement, Appeal, AuditEntry, Case, Game, Seat
from games.models import moderation as stored
from games.models.moderation import ADMIN, MODERATOR
from games.models.paces import MINUTE, span
from games.queries import conduct
from games.queries.lists import hosted_tables
from games.staff import forms
from games.staff.forms import ReasonForm
from games.staff.words import counted
from mail.hooks import hook_of

if TYPE_CHECKING:
    from games.queries import Table

Role = Literal["moderator", "admin", "superuser"]
SUPERUSER: Final = "superuser"
PLAYING: Final = frozenset({Game.Status.PLAYING})
OPEN: Final = frozenset({Game.Status.OPEN})

Subject = TypeVar("Subject")


def _always(subject: Any, by: User, now: datetime) -> bool:
    return True


@dataclass(frozen=True, slots=True, eq=False)
class StaffAct(Generic[Subject]):
    """One act of staff on a `Subject`: a table, a person, a case or an appeal.

    name: The stored value, which is also part of URLs and of the permission's name. It never changes.
    title: The name on buttons and pages, in the audit log and, after "Can", of the permission.
    role: The lowest role that may do it.
    consequences: The sentences under "What will happen" on the act's page.
    for_guests: The consequences for a guest, if they differ.
    told: More such sentences: what the person is told. Left out if the account is closed. The page adds how.
    ready: Ready-made reasons, which its page offers.
    done: The message after the act. `{about}` is the subject. It must not start with `{about}`, because the
        admin's base template capitalizes the first letter of a message, and a name may start with a small one.
    done_instead: Return another message for an act that did not do all that `done` says, or "".
    past: What a member of staff "has" done, for others who are about to act. `newer_acts.said` fills it in with the
        values of `facts_of`.
    detail: What lists of acts that were done add to the title, with the same values.
    form: The form of the act. Every form asks for a reason.
    statuses: For acts at a table, the statuses of games where it is possible.
    offered: Return True if a page offers it to this staff member now.
    reason_is_shown: Whether the person concerned reads the reason.
    reason_required: Whether it needs a reason.
    final: Why it cannot be undone, in a sentence for its page, or "". The buttons of such an act are red and apart.
    named: The title on the button that confirms it, with the `{name}` of the subject, if it is not just `title`.
    in_log: For acts at a table, whether the log tells it, by a row of `games/render/log_notes.py`.
    one_click: Whether its button performs it, without a page in between.
    seats: For acts on one seat, return the seats of the table that it is possible for. Its page asks for the seat
        first, and nothing is preselected.
    seat_title: For those acts, the title on the button, with the `{name}` and the `{number}` of the chosen seat.
    """

    name: str
    title: str
    role: Role
    consequences: tuple[str, ...]
    done: str
    past: str
    detail: str = field(default="", kw_only=True)
    done_instead: Callable[[AuditEntry], str] | None = field(default=None, kw_only=True)
    for_guests: tuple[str, ...] = field(default=(), kw_only=True)
    told: tuple[str, ...] = field(default=(), kw_only=True)
    form: type[ReasonForm] = ReasonForm
    statuses: frozenset[str] = frozenset()
    offered: Callable[[Subject, User, datetime], bool] = _always
    ready: tuple[str, ...] = field(default=(), kw_only=True)
    reason_is_shown: bool = False
    reason_required: bool = True
    in_log: bool = field(default=True, kw_only=True)
    final: str = field(default="", kw_only=True)
    named: str = field(default="", kw_only=True)
    one_click: bool = False
    seats: Callable[[Subject], list[Seat]] | None = None
    seat_title: str = ""

    @property
    def phrase(self) -> str:
        """Return the title with a small first letter, for use inside a sentence."""
        return self.title[0].lower() + self.title[1:]

    @property
    def permission(self) -> str:
        """Return the permission's name in the form that `User.has_perm` takes."""
        return f"games.do_{self.name}"


def _still_paused(entry: AuditEntry) -> str:
    if not entry.details.get("still_paused"):
        return ""
    agreed = entry.details["pause"] == Game.PAUSED_BY_CONSENT
    return f"The {'agreed pause' if agreed else 'pause by staff'} has ended. The game is still paused: see its status."


def _closed_with_an_act(entry: AuditEntry) -> str:
    also = entry.details.get("also")
    return f"The case is closed. {ACTS[also].done.format(about=entry.person_name)}" if also else ""


def _given_to(entry: AuditEntry) -> str:
    return f"The seat has a new owner: {entry.person_name}."


def _closed_tables(entry: AuditEntry) -> str:
    return f"The account and {facts_of(entry)['tables']} of theirs are closed."


# When an act is offered.


def _is_not_paused_by_staff(table: Table, by: User, now: datetime) -> bool:
    return Game.PAUSED_BY_STAFF not in table.game.paused_reasons


def _is_paused(table: Table, by: User, now: datetime) -> bool:
    return bool({Game.PAUSED_BY_STAFF, Game.PAUSED_BY_CONSENT} & {*table.game.paused_reasons})


def _has_a_clock(table: Table, by: User, now: datetime) -> bool:
    return table.game.deadline is not None or table.game.time_left is not None


def _is_in_a_round(table: Table, by: User, now: datetime) -> bool:
    return table.game.paused_at is None and table.playing is not None and not table.playing.over


# The seats that an act is possible for.


def _seats_with_misses(table: Table) -> list[Seat]:
    return [row for row in table.seats if row.user_id is not None and row.misses]


def _seats_of_people(table: Table) -> list[Seat]:
    return [row for row in table.seats if row.user_id is not None and not row.left]


def _seats_to_give(table: Table) -> list[Seat]:
    """Return the seats of people, and the seats that staff gave to a bot when they removed a person."""
    removed = conduct.replaced_by_bots(table.game)
    seats = [row for row in table.seats if row.user_id is not None or row.index in removed]
    return [row for row in seats if not row.left]


_FAULT: Final = "A fault of the site affected this game."
_WARNINGS: Final = (
    "Please make your moves in time. Others wait for you when your time runs out.",
    "Please do not leave games that have just begun. Others would like to finish them.",
    "Please choose a name that offends nobody.",
    "Please play with one account only. Two accounts of one person at a table are against our rules.",
)
_SUSPENSIONS: Final = (
    "You went on after we had warned you.",
    "You played with two accounts at one table.",
    "You chose an offensive name again.",
)
"""Ready-made reasons. The person reads those of warnings and suspensions."""


def may_change_account(person: User, by: User) -> bool:
    """Return True if `by` may change this account: accounts of staff are for superusers only."""
    return by.is_superuser or not person.is_staff


def _hosts_open_tables(person: User, by: User, now: datetime) -> bool:
    return CLOSE_ACCOUNT.offered(person, by, now) and hosted_tables(person.pk).exists()


_CANNOT_BE_UNDONE: Final = "This cannot be undone."
PAUSE: Final[StaffAct[Table]] = StaffAct(
    "pause",
    "Pause the game",
    MODERATOR,
    ("The clock stops, bots wait, and moves are refused until staff resume the game.",),
    "The game is paused.",
    "paused the game",
    form=forms.SaidForm,
    ready=("We are looking at what happened in this game.", _FAULT),
    statuses=PLAYING,
    offered=_is_not_paused_by_staff,
)
SAY: Final[StaffAct[Table]] = StaffAct(
    "say",
    "Say something to the table",
    MODERATOR,
    (
        "Everyone who sees the table reads it in the log, and players under “Since your last move”.",
        "Every player is told by the bell. It cannot be taken back.",
    ),
    "The table can read it.",
    "said something to the table",
    form=forms.SayForm,
    statuses=OPEN | PLAYING,
    reason_required=False,
)
RESUME: Final[StaffAct[Table]] = StaffAct(
    "resume",
    "Resume the game",
    MODERATOR,
    (
        "The clock continues with the time that was left.",
        "A pause that the players agreed on ends only if staff have not paused the game as well.",
    ),
    "The game has resumed.",
    "ended a pause",
    done_instead=_still_paused,
    statuses=PLAYING,
    offered=_is_paused,
)
EXTEND: Final[StaffAct[Table]] = StaffAct(
    "extend",
    "Extend the clock",
    MODERATOR,
    ("The current turn gets this much more time.",),
    "The turn has more time.",
    "extended the clock by {minutes}",
    detail=", {minutes}",
    form=forms.TimeForm,
    ready=("The site could not be reached for a while.",),
    statuses=PLAYING,
    offered=_has_a_clock,
)
FORGIVE: Final[StaffAct[Table]] = StaffAct(
    "forgive",
    "Forgive missed turns",
    MODERATOR,
    ("The missed turns no longer count against the seat, and its time bank is refilled.",),
    "The missed turns no longer count.",
    "forgiven the missed turns of {person}",
    detail=": {misses}",
    form=forms.SeatForm,
    ready=("The site could not be reached for a while.",),
    statuses=PLAYING,
    seats=_seats_with_misses,
    seat_title="Forgive {name}, seat {number}",
)
REMOVE: Final[StaffAct[Table]] = StaffAct(
    stored.REMOVE,
    "Remove a player",
    MODERATOR,
    (
        "The person leaves this game and cannot come back by themselves.",
        "Either a bot continues under their name, or their hand is set aside as if they had resigned.",
        "If a bot takes the seat, an admin can return it to them with “Give a seat to someone else”.",
        "At a table that has not started, the seat becomes free.",
        "A private table gets a new link, and the old one no longer works for anyone.",
        "Before the start, the bell tells the host to send the new link to the people they invited.",
    ),
    "The player has been removed.",
    "removed {person}",
    detail="{instead}",
    final="A hand that is set aside cannot be given back.",
    form=forms.RemoveForm,
    statuses=OPEN | PLAYING,
    seats=_seats_of_people,
    seat_title="Remove {name}, seat {number}",
)
MOVE_SEAT: Final[StaffAct[Table]] = StaffAct(
    stored.MOVE_SEAT,
    "Give a seat to someone else",
    ADMIN,
    (
        "The new person gets the seat with its hand and score, and sees that hand.",
        "If it is the seat’s turn, its time starts again. Both people are notified.",
        "A table is named after the player in seat 1, so giving that seat away renames it.",
        "A seat that staff gave to a bot can be given back to the person who had it.",
        "They are notified if somebody else gets it.",
    ),
    "The seat has a new owner.",
    "given the seat of {before} to {person}",
    done_instead=_given_to,
    final="The new person has then seen the hand, even if the seat is given back.",
    form=forms.MoveSeatForm,
    statuses=OPEN | PLAYING,
    seats=_seats_to_give,
    seat_title="Give away the place of {name}, seat {number}",
)
VOID_ROUND: Final[StaffAct[Table]] = StaffAct(
    "void_round",
    "Void the round",
    MODERATOR,
    (
        "The round does not count, and its hands and shuffle are shown to everyone.",
        "A new round is dealt by the same dealer. Scores stay, and players who left stay out.",
        "Every player is told by bell and mail.",
    ),
    "The round is void and has been dealt again.",
    "voided round {round}",
    detail=", round {round}",
    form=forms.RoundForm,
    final=_CANNOT_BE_UNDONE,
    named="Void the round of game {name}",
    ready=(_FAULT,),
    statuses=PLAYING,
    offered=_is_in_a_round,
)
VOID_GAME: Final[StaffAct[Table]] = StaffAct(
    stored.VOID_GAME,
    "Void the game",
    ADMIN,
    ("The game ends immediately, without a winner.",),
    "The game has ended without a winner.",
    "voided the game",
    final=_CANNOT_BE_UNDONE,
    named="Void game {name}",
    form=forms.SaidForm,
    ready=(_FAULT,),
    statuses=PLAYING,
)
CLOSE: Final[StaffAct[Table]] = StaffAct(
    stored.CLOSE,
    "Close the table",
    MODERATOR,
    ("The table is closed before the game starts, and everyone there is notified.",),
    "The table is closed.",
    "closed the table",
    final=_CANNOT_BE_UNDONE,
    named="Close table {name}",
    form=forms.SaidForm,
    statuses=OPEN,
)
LOOK: Final[StaffAct[Table]] = StaffAct(
    stored.LOOK,
    "Look at hands",
    MODERATOR,
    (
        "Every hand of the round is shown on one page. To see it again, look again, with another reason.",
        "When the game is over, the players are told that staff looked, and when.",
        "You cannot do this while you play at any table with someone from this table.",
    ),
    "You have looked at the hands.",
    "looked at the hands",
    final="You will have seen the hands, and the players will be told.",
    named="Look at the hands of game {name}",
    statuses=PLAYING,
)

WARN: Final[StaffAct[User]] = StaffAct(
    "warn",
    "Warn",
    MODERATOR,
    (),
    "You have warned {about}.",
    "warned {person}",
    told=(
        "The reason is shown to this person word for word.",
        "Every page links to it until they confirm that they have read it.",
    ),
    ready=_WARNINGS,
    reason_is_shown=True,
)
MUTE: Final[StaffAct[User]] = StaffAct(
    "mute",
    "Mute",
    MODERATOR,
    (
        "Their name at the table is removed: they are shown by their username, or by the neutral name in its place.",
        "They cannot choose another name until the mute ends.",
    ),
    "You have muted {about}.",
    "muted {person} for {days}",
    told=("They are told until when, without your reason.",),
    ready=("The name at the table is offensive.", "They chose an offensive name again."),
    detail=", {days}",
    form=forms.DaysForm,
)
_WITHOUT_REASON: Final = "They are told, without your reason."
REVOKE_INVITATIONS: Final[StaffAct[User]] = StaffAct(
    "revoke_invitations",
    "Revoke the invitations",
    MODERATOR,
    (
        "The links of all their invitations that nobody has used stop working.",
        "They can make new ones. To prevent that, suspend them.",
    ),
    "The unused invitations of {about} are revoked.",
    "revoked the invitations of {person}",
    offered=lambda person, by, now: invitations.open_ones(person, now).exists(),
)
DROP_HOOK: Final[StaffAct[User]] = StaffAct(
    "drop_hook",
    "Remove the webhook",
    MODERATOR,
    (
        "Nothing is sent to the address of their webhook any more.",
        "They can add one again. To prevent that, suspend them.",
    ),
    "The webhook of {about} is removed.",
    "removed the webhook of {person}",
    offered=lambda person, by, now: hook_of(person.pk) is not None,
)
UNMUTE: Final[StaffAct[User]] = StaffAct(
    "unmute",
    "End the mute",
    MODERATOR,
    ("They can choose a name at the table again.",),
    "The mute of {about} has ended.",
    "ended the mute of {person}",
    told=(_WITHOUT_REASON,),
    offered=lambda person, by, now: person.muted(now),
)
NEUTRAL_NAME: Final[StaffAct[User]] = StaffAct(
    stored.NEUTRAL_NAME,
    "Replace the username",
    MODERATOR,
    (
        "They are shown by a neutral name, like “Player 48213”, instead of their username on pages and in the API.",
        "So are their moves in earlier games, and a seat that a bot took. Their name at the table is removed.",
        "They still log in with their username, and the address of their page keeps it.",
        "They can choose another name at the table in their account unless they are muted.",
    ),
    "The username is replaced.",
    "replaced the username of {person}",
    told=("They are told the name and your reason.",),
    ready=("Your username offends others.", "Your username could be mistaken for another person’s."),
    offered=lambda person, by, now: not person.neutral_name,
    reason_is_shown=True,
)
END_NEUTRAL_NAME: Final[StaffAct[User]] = StaffAct(
    stored.END_NEUTRAL_NAME,
    "Restore the username",
    MODERATOR,
    ("They are shown by their username again, unless they have a name at the table.",),
    "The username is shown again.",
    "restored the username of {person}",
    told=(_WITHOUT_REASON,),
    offered=lambda person, by, now: bool(person.neutral_name),
)
_ONE_PAGE: Final = ("They can use one page only, which shows the reason word for word and lets them appeal.",)
_CLOCKS_RUN: Final = (
    "The clocks of their games keep running, and tables where they sit can still start. Remove them if others should"
    " not wait."
)
_REPLACES: Final = "This replaces a suspension in force. An appeal that waits against that one is closed."
_OUTCOMES_STAY: Final = "The outcomes of cases about them stay. If one is wrong, change it on the page of the case."
SUSPEND: Final[StaffAct[User]] = StaffAct(
    stored.SUSPEND,
    "Suspend",
    MODERATOR,
    (
        "They lose access to pages, the API and open sockets immediately. The suspension ends by itself.",
        _CLOCKS_RUN,
        _REPLACES,
    ),
    "You have suspended {about}.",
    "suspended {person} for {days}",
    told=_ONE_PAGE,
    ready=_SUSPENSIONS,
    detail=", {days}",
    form=forms.DaysForm,
    reason_is_shown=True,
)
SUSPEND_FOR_GOOD: Final[StaffAct[User]] = StaffAct(
    stored.SUSPEND_FOR_GOOD,
    "Suspend for good",
    ADMIN,
    (
        "They lose access to pages, the API and open sockets immediately, until someone lifts the suspension.",
        _CLOCKS_RUN,
        _REPLACES,
    ),
    "You have suspended {about} for good.",
    "suspended {person} for good",
    told=_ONE_PAGE,
    ready=_SUSPENSIONS,
    reason_is_shown=True,
)
LIFT: Final[StaffAct[User]] = StaffAct(
    "lift",
    "Lift the suspension",
    ADMIN,
    (
        "The suspension ends immediately.",
        "If an appeal waits, it is closed.",
        _OUTCOMES_STAY,
    ),
    "The suspension of {about} has ended.",
    "lifted the suspension of {person}",
    told=(_WITHOUT_REASON,),
    offered=lambda person, by, now: person.suspended(now),
)
_SHOWN_BY_NEW_NAMES: Final = (
    "They are shown by these names from now on, at every table and in every log.",
    "A new username ends a neutral name, so it is shown wherever they have no name at the table.",
)
RENAME: Final[StaffAct[User]] = StaffAct(
    stored.RENAME,
    "Correct the name",
    ADMIN,
    (
        *_SHOWN_BY_NEW_NAMES,
        "They log in with the new username from then on, or with their email address if they have one.",
    ),
    "The name is corrected.",
    "corrected the name of {person}",
    for_guests=_SHOWN_BY_NEW_NAMES,
    told=("They are told the new name, without your reason.",),
    form=forms.NamesForm,
    offered=lambda person, by, now: may_change_account(person, by),
)
CLOSE_ACCOUNT: Final[StaffAct[User]] = StaffAct(
    "close_account",
    "Close the account",
    ADMIN,
    (
        "Nobody can log in to it, and no page says why. To show them a reason, suspend them instead.",
        "It is logged out everywhere and its API tokens are revoked, also if you reopen it later.",
        "An appeal that waits goes on waiting, but they cannot read the answer. Decide it first if you can.",
        f"Nothing else is deleted. {_CLOCKS_RUN}",
    ),
    "The account is closed.",
    "closed the account of {person}",
    for_guests=(
        "They are a guest, who cannot log in anywhere. Their browser is logged out, and no page says why.",
        "To show them a reason, suspend them instead.",
        "If you reopen the account, they can play on in that browser. There is no other way back.",
        "They lose that way if they log in or begin as another guest there meanwhile, or if it forgets them.",
        "An appeal that waits goes on waiting, but they cannot read the answer. Decide it first if you can.",
        f"Nothing else is deleted. {_CLOCKS_RUN}",
    ),
    offered=lambda person, by, now: person.is_active and may_change_account(person, by),
)
_TABLES_CLOSE: Final = (
    "Every table that they host and that has not started is closed, and everyone there is notified.",
    "Their other tables stay as they are.",
)
CLOSE_WITH_TABLES: Final[StaffAct[User]] = StaffAct(
    stored.CLOSE_WITH_TABLES,
    "Close the account and its open tables",
    ADMIN,
    (*CLOSE_ACCOUNT.consequences, *_TABLES_CLOSE),
    "The account and its open tables are closed.",
    "closed the account of {person} and {tables}",
    detail=", {tables}",
    done_instead=_closed_tables,
    for_guests=(*CLOSE_ACCOUNT.for_guests, *_TABLES_CLOSE),
    final="The tables cannot be opened again.",
    named="Close the account of {name} and its open tables",
    offered=_hosts_open_tables,
)
REOPEN_ACCOUNT: Final[StaffAct[User]] = StaffAct(
    "reopen_account",
    "Reopen the account",
    ADMIN,
    (
        "They can log in again. Their games, names and settings are as they were.",
        "Their API tokens stay revoked, and a suspension still holds until it ends.",
    ),
    "The account is open again.",
    "reopened the account of {person}",
    for_guests=("Their games, names and settings are as they were. A suspension still holds until it ends.",),
    offered=lambda person, by, now: not person.is_active and may_change_account(person, by),
)
SET_ROLE: Final[StaffAct[User]] = StaffAct(
    "set_role",
    "Give a role",
    SUPERUSER,
    (
        "With a role, they can use the staff pages as soon as they have logged in with a second factor.",
        "Without a role, they immediately become a player like any other.",
        "Superusers are not made here: the site’s operators make them in a shell.",
        "They are told by the bell, without your reason.",
    ),
    "The role of {about} has been changed.",
    "changed the role of {person}: {role}",
    detail=": {role}",
    form=forms.RoleForm,
    offered=lambda person, by, now: not person.is_superuser and not person.is_guest,
)
DROP_FACTOR: Final[StaffAct[User]] = StaffAct(
    "drop_factor",
    "Remove the lost second factor",
    SUPERUSER,
    (
        "Their authenticator app, passkeys and recovery codes are removed, so they log in with their password alone.",
        "Make sure that the request really comes from them.",
        "They cannot use the staff pages until they have set up another second factor.",
    ),
    "The second factor of {about} has been removed.",
    "removed the second factor of {person}",
    final=_CANNOT_BE_UNDONE,
    named="Remove the second factor of {name}",
    told=(_WITHOUT_REASON,),
    offered=lambda person, by, now: is_mfa_enabled(person),
)

_NOTE_IS_FOR_STAFF: Final = "Staff read the note here and in the audit log. Nobody else does."
NOTE_PERSON: Final[StaffAct[User]] = StaffAct(
    stored.NOTE_PERSON,
    "Write a note",
    MODERATOR,
    (_NOTE_IS_FOR_STAFF,),
    "The note is on the page of {about}.",
    "written a note about {person}",
    form=forms.NoteForm,
)

HOLD: Final[StaffAct[Case]] = StaffAct(
    "hold",
    "Take the case",
    MODERATOR,
    ("The case is yours. Other staff see that you work on it, and reporters see that it is being looked at.",),
    "You are now working on this case.",
    "taken the case",
    offered=lambda case, by, now: case.closed_at is None and case.holder_id != by.pk,
    reason_required=False,
    one_click=True,
)
HAND_OVER: Final[StaffAct[Case]] = StaffAct(
    "hand_over",
    "Hand the case over",
    MODERATOR,
    ("The case is your colleague’s. They are told by the bell, and by mail if they have switched that on.",),
    "The case is your colleague’s now.",
    "handed the case over to {colleague}",
    detail=": {colleague}",
    form=forms.ColleagueForm,
    offered=lambda case, by, now: case.closed_at is None,
)
GIVE_BACK: Final[StaffAct[Case]] = StaffAct(
    "give_back",
    "Give the case back",
    MODERATOR,
    ("Nobody works on the case then, and reporters see that it waits for staff.",),
    "The case waits for somebody to take it.",
    "given the case back",
    offered=lambda case, by, now: case.closed_at is None and case.holder_id == by.pk,
    reason_required=False,
    one_click=True,
)
NOTE_CASE: Final[StaffAct[Case]] = StaffAct(
    "note_case",
    "Write a note",
    MODERATOR,
    (_NOTE_IS_FOR_STAFF,),
    "The note is on the page of the case.",
    "written a note in the case",
    form=forms.NoteForm,
)
CLOSE_CASE: Final[StaffAct[Case]] = StaffAct(
    stored.CLOSE_CASE,
    "Close the case",
    MODERATOR,
    (
        "The case is closed. Everyone who reported is told the outcome and your answer.",
        "If you choose so, the person is warned, muted or suspended at the same time, for the same reason.",
    ),
    "The case is closed.",
    "closed the case: {outcome}",
    detail=": {outcome}",
    done_instead=_closed_with_an_act,
    form=forms.CloseForm,
    ready=(
        "It can be seen in the log of the game.",
        "Nothing in the log of the game supports it.",
        *_WARNINGS,
        *_SUSPENSIONS,
    ),
    offered=lambda case, by, now: case.closed_at is None,
)
CHANGE_OUTCOME: Final[StaffAct[Case]] = StaffAct(
    stored.CHANGE_OUTCOME,
    "Change the outcome",
    MODERATOR,
    (
        "This outcome and this answer replace the old ones. Everyone who reported is told.",
        "If you change only the answer, the outcome stays. An empty answer removes the earlier one.",
        "The weight of their reports in other cases changes with the outcome.",
        "What staff did to the person stays. End a mute or a suspension on their page.",
    ),
    "The outcome or the answer has been changed.",
    "changed the outcome of the case: {outcome}",
    detail=": {outcome}",
    form=forms.OutcomeForm,
    offered=lambda case, by, now: case.closed_at is not None,
)
REOPEN_CASE: Final[StaffAct[Case]] = StaffAct(
    stored.REOPEN_CASE,
    "Reopen the case",
    MODERATOR,
    (
        "The case is open again, without an outcome, and it is yours.",
        "Everyone who reported is told that staff are looking at it again.",
    ),
    "The case is open again.",
    "reopened the case",
    offered=lambda case, by, now: case.closed_at is not None,
)
DECIDE_APPEAL: Final[StaffAct[Appeal]] = StaffAct(
    "decide_appeal",
    "Decide the appeal",
    ADMIN,
    (
        "If you lift the suspension, it ends immediately.",
        _OUTCOMES_STAY,
    ),
    "The appeal is decided.",
    "decided the appeal of {person}: {decision}",
    told=("The person reads the decision and your answer.",),
    detail=": {decision}",
    form=forms.AppealForm,
    offered=lambda appeal, by, now: appeal.decided_at is None,
)


ANNOUNCE: Final[StaffAct[Announcement]] = StaffAct(
    "announce",
    "Announce",
    ADMIN,
    (
        "Every page shows this line, to visitors as well, within seconds. It takes the place of the line shown now.",
        "Open pages of games show it with the next move.",
    ),
    "The announcement is shown.",
    "announced something on all pages",
    detail=": {text}",
    form=forms.AnnouncementForm,
    reason_required=False,
)
END_ANNOUNCEMENT: Final[StaffAct[Announcement]] = StaffAct(
    "end_announcement",
    "End the announcement",
    ADMIN,
    ("No page shows it any more.",),
    "The announcement has ended.",
    "ended the announcement",
    offered=lambda announcement, by, now: announcement.is_shown(now),
    reason_required=False,
)


MAKE_ACCOUNT: Final[StaffAct[User]] = StaffAct(
    "make_account",
    "Make an account",
    SUPERUSER,
    (
        "The account has no password. A mail to the address leads to the page that sets one.",
        "If it does not arrive, “Forgot your password?” on the log-in page sends another.",
    ),
    "The account is made.",
    "made the account of {person}",
    form=forms.NewAccountForm,
)


def _by_name(*acts: StaffAct[Subject]) -> dict[str, StaffAct[Subject]]:
    return {act.name: act for act in acts}


TABLE_ACTS: Final = _by_name(
    SAY, PAUSE, RESUME, EXTEND, FORGIVE, REMOVE, MOVE_SEAT, VOID_ROUND, VOID_GAME, CLOSE, LOOK
)  # fmt: skip
PERSON_ACTS: Final = _by_name(
    WARN, MUTE, UNMUTE, NEUTRAL_NAME, END_NEUTRAL_NAME,
    SUSPEND, SUSPEND_FOR_GOOD, LIFT, RENAME, CLOSE_ACCOUNT, CLOSE_WITH_TABLES, REOPEN_ACCOUNT, SET_ROLE,
    DROP_FACTOR, NOTE_PERSON, REVOKE_INVITATIONS, DROP_HOOK
)  # fmt: skip
CASE_ACTS: Final = _by_name(HOLD, HAND_OVER, GIVE_BACK, NOTE_CASE, CLOSE_CASE, CHANGE_OUTCOME, REOPEN_CASE)
APPEAL_ACTS: Final = _by_name(DECIDE_APPEAL)
ANNOUNCEMENT_ACTS: Final = _by_name(ANNOUNCE, END_ANNOUNCEMENT)
NEW_ACCOUNT_ACTS: Final = _by_name(MAKE_ACCOUNT)
"""The acts on each subject by name, in the order of its page."""

ACTS: Final[dict[str, StaffAct[Any]]] = {
    **TABLE_ACTS,
    **PERSON_ACTS,
    **CASE_ACTS,
    **APPEAL_ACTS,
    **ANNOUNCEMENT_ACTS,
    **NEW_ACCOUNT_ACTS,
}
"""Every act by name."""


_INSTEAD: Final = {True: ", a bot took the seat", False: ", the hand was set aside"}
"""What became of the seat of a player who was removed, in lists, by `details["bot"]`."""


def _inside(sentence: str) -> str:
    """Return a sentence with a small first letter, for use inside another one."""
    return sentence[:1].lower() + sentence[1:]


def facts_of(entry: AuditEntry) -> dict[str, str]:
    """Return the values for `StaffAct.past` and `StaffAct.detail`, in words."""
    details = entry.details
    decision = Appeal.Answer.LIFTED if details.get("lifted") else Appeal.Answer.UPHELD
    return {
        "person": entry.person_name,
        "text": str(details.get("text", "")),
        "before": entry.before_name,
        "colleague": entry.before_name,
        "round": str(details.get("round", "")),
        "misses": counted(details.get("misses") or 0, "missed turn"),
        "instead": _INSTEAD.get(details.get("bot"), ""),
        "tables": counted(len(details.get("tables") or ()), "table"),
        "days": counted(details.get("days") or 0, "day"),
        "minutes": span((details.get("minutes") or 0) * MINUTE),
        "role": details.get("role") or "none",
        "outcome": _inside(dict(Case.Outcome.choices).get(details.get("outcome", ""), "")),
        "decision": _inside(decision.label),
    }


def summary_of(entry: AuditEntry) -> str:
    """Return what was done, for lists: `Suspend, 7 days`. An act of a later release is shown by its name."""
    act = ACTS.get(entry.act)
    return entry.act if act is None else act.title + act.detail.format(**facts_of(entry)) + words_of(entry)


def words_of(entry: AuditEntry) -> str:
    """Return what staff said to the table with an act, to follow what they did, or ""."""
    said = entry.details.get("said", "")
    return f": “{said}”" if said else ""
