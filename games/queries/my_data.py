"""All that the site stores about a person, for the person (docs/operations.md, "When a person asks for a copy").

Nothing in it is about another person, except public names, and nothing shows a card that the person may not know: of
moves it has the line that everybody reads in the log, and no hand.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from datetime import datetime
from typing import Any, Final

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.db.models import Q

from accounts import log_ins
from accounts.models import AccountMail, ApiToken, NameSkeleton, Session, SignUpInvitation, User
from common.readers_language import say
from games.models import (
    Appeal,
    AuditEntry,
    BrowserMark,
    DataCopy,
    Game,
    Invitation,
    Move,
    NoticeSettings,
    Report,
    Seat,
    Suspension,
    Warned,
)
from games.models.moderation import MOVE_SEAT, NOTE_PERSON, REMOVE
from games.models.owner_changes import read_owner_changes
from games.queries import conduct, profiles
from mail.models import Hook, PushSubscription

MOST_MOVES: Final = 50_000
"""How many moves a copy has, those of the newest games. The records of finished games have all."""
MOST_GAMES: Final = 20_000
MOST_ROWS: Final = 10_000
"""How many rows of any other kind a copy has, the newest. Each turn may leave a notice or two, for 60 days."""
Rows = list[dict[str, Any]]


def data_of(person: User) -> dict[str, Any]:
    """Return everything about a person but their notices (`games.notices.inbox.rows_for_copy`), by subject.

    All values can be written as JSON, times by `isoformat`.
    """
    return {
        "account": _account(person),
        "email_addresses": _rows(EmailAddress.objects.filter(user=person), "email", "primary", "verified"),
        "second_factors": _rows(
            Authenticator.objects.filter(user=person), "type", "data__name", "created_at", "last_used_at"
        ),
        "linked_identities": _rows(
            SocialAccount.objects.filter(user=person), "provider", "uid", "date_joined", "last_login", "extra_data"
        ),
        "log_ins": _log_ins(person),
        "api_tokens": _rows(
            ApiToken.objects.filter(user=person), "name", "scope", "created_at", "expires_at", "last_used_at"
        ),
        "sign_up_invitations": _rows(
            SignUpInvitation.objects.filter(by=person), "note", "created_at", "expires_at", "revoked_at", "used_at"
        ),
        "invited_at": list(SignUpInvitation.objects.filter(used_by=person).values_list("used_at", flat=True)),
        "held_names": _rows(NameSkeleton.objects.filter(user=person), "skeleton", "freed_at"),
        "account_emails": _rows(
            AccountMail.objects.filter(user=person), "kind", "address", "state", "reason", "created_at"
        ),
        "notice_settings": _rows(
            NoticeSettings.objects.filter(user=person), "choices", "digest_hour", "digest_at", "bounced", "bounced_at"
        ),
        "devices": _rows(
            PushSubscription.objects.filter(user=person), "label", "created_at", "ok_at", "hides_names", "mail_too"
        ),
        "webhook": _hook(person),
        "table_invitations": _rows(
            Invitation.objects.filter(user=person), "game__code", "at", "state", "answered_at"
        ),
        "browsers_at_tables": _rows(BrowserMark.objects.filter(user=person), "game__code", "at"),
        "reports": _rows(
            Report.objects.filter(reporter=person),
            "at", "case__kind", "game__code", "text", "case__closed_at", "case__outcome", "case__answer", "seen_at",
        ),
        "warnings": _rows(Warned.objects.filter(person=person), "at", "text", "acknowledged_at"),
        "suspensions": _rows(Suspension.objects.filter(person=person), "at", "until", "reason", "lifted_at"),
        "appeals": _rows(
            Appeal.objects.filter(suspension__person=person), "at", "text", "decided_at", "decision", "answer"
        ),
        "acts_of_staff": _rows(
            AuditEntry.objects.filter(conduct.audit_of_person(person))
            .exclude(details__has_key="case")
            .exclude(act=NOTE_PERSON),  # only staff read notes
            "at", "act", "game_code", "version", "seat",
        ),
        "acts_as_staff": _rows(AuditEntry.objects.filter(actor=person.pk), "at", "act", "game_code"),
        "games": _games(person),
        "left_out": left_out(),
    }  # fmt: skip


def _hook(person: User) -> dict[str, Any] | None:
    names = ("form", "mention", "others_since", "created_at", "ok_at", "failing_since", "last_error", "stopped_at")
    hook = Hook.objects.filter(user=person).only("url", *names).first()
    return None if hook is None else {name: getattr(hook, name) for name in ("host", *names)}


def left_out() -> list[str]:
    """Return what a copy does not have, in sentences for the person."""
    games, moves, rows = map(say.number, (MOST_GAMES, MOST_MOVES, MOST_ROWS))
    return [
        say.text(
            "copy of data",
            "Your password, and the secrets of your second factors, log-ins, API tokens and devices: only hashes of"
            " most are stored. The secret of your webhook, and its address except for the host.",
        ),
        say.text(
            "copy of data",
            "Reports by other people about you, because they would tell who wrote them, and staff’s notes about these.",
        ),
        say.text(
            "copy of data",
            "Your hands in running games, because these are not yet public. The record of a finished game shows every"
            " hand.",
        ),
        say.text(
            "copy of data",
            "Games before the newest {games}, and moves before the newest {moves}. They are in the records.",
            games=games,
            moves=moves,
        ),
        say.text(
            "copy of data",
            "Of everything else, such as notifications, all but the newest {rows} of each kind.",
            rows=rows,
        ),
    ]


def copy_of(person: User, now: datetime) -> DataCopy | None:
    """Return the copy of this person's data that waits or can be fetched, without its content, or None."""
    found = DataCopy.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), person=person)
    return found.defer("content").first()


def content_of(person: User, now: datetime) -> bytes | None:
    """Return the copy of this person's data, or None if there is none yet, or none any more."""
    ready = DataCopy.objects.filter(person=person, expires_at__gt=now).values_list("content", flat=True).first()
    return None if ready is None else gzip.decompress(ready)


def _rows(found: Any, *fields: str) -> Rows:
    """Return these fields of the newest rows, oldest first."""
    newest = list(found.order_by("-pk").values(*fields)[:MOST_ROWS])
    return [{key.replace("__", "_"): value for key, value in row.items()} for row in reversed(newest)]


def _account(person: User) -> dict[str, Any]:
    fields = (
        "username", "display_name", "neutral_name", "former_names", "avatar", "email", "is_guest", "is_staff",
        "is_superuser", "is_active", "date_joined", "last_login", "time_zone", "quiet_from", "quiet_to", "quiet_since",
        "shows_sleep", "vacation_from", "vacation_until", "vacation_year", "vacation_used", "auto_vacation",
        "suspended_until", "muted_until", "is_program", "deletes_at", "seen_tips", "no_tips", "confirm", "has_push",
        "has_hook",
    )  # fmt: skip
    account = {field: getattr(person, field) for field in fields}
    return {"number": person.pk, **account, "roles": list(person.groups.values_list("name", flat=True))}


def _log_ins(person: User) -> Rows:
    rows = Session.objects.filter(user=person).order_by("-seen_at")
    decoded = ((row, row.get_decoded()) for row in rows)
    return [
        {"browser": data.get(log_ins.BROWSER), "since": data.get(log_ins.SINCE), "last_used": row.seen_at}
        for row, data in decoded
    ]


def _games(person: User) -> Rows:
    """Return the games in which the person has or had a seat, newest first, with the person's moves."""
    numbers = Game.objects.filter(pk__in=profiles.games_ever_of(person)).order_by("-pk")[:MOST_GAMES]
    games, room = list(numbers), MOST_MOVES
    seats: dict[int, Seat] = {seat.game_id: seat for seat in Seat.objects.filter(user=person, game__in=games)}
    changed = set(
        AuditEntry.objects.filter(act__in=(REMOVE, MOVE_SEAT), game__in=games).values_list("game_id", flat=True)
    )
    rows = []
    for start in range(0, len(games), 100):
        part = games[start : start + 100]
        held = {game.pk: _held(person, game.pk, seats.get(game.pk), changed=game.pk in changed) for game in part}
        moves = _moves(held, room)
        room -= sum(map(len, moves.values()))
        rows += [_game(game, seats.get(game.pk), person, moves[game.pk]) for game in part]
    return rows


def _game(game: Game, seat: Seat | None, person: User, moves: Rows) -> dict[str, Any]:
    mine = None
    if seat is not None:
        mine = {
            "number": seat.index + 1, "name": seat.name, "bot": seat.bot, "score": seat.score, "left": seat.left,
            "bank_seconds": seat.bank, "misses": seat.misses, "seen_to_move": seat.end_seen_version,
            "biggest_stack_sent": seat.stack_sent, "biggest_stack_survived": seat.stack_survived,
            "cards_drawn": seat.cards_drawn, "orders": seat.orders, "won": game.winner == seat.index,
        }  # fmt: skip
    return {
        "code": game.code, "status": game.status, "preset": game.preset, "pace": game.pace, "public": game.is_public,
        "host": game.host_id == person.pk, "created_at": game.created_at, "started_at": game.started_at,
        "finished_at": game.finished_at, "seat": mine, "moves": moves,
    }  # fmt: skip


Periods = list[tuple[int, int, int]]
"""Seats with the lines of the log after the first number and up to the second, during which a person held them."""


def _held(person: User, game_id: int, seat: Seat | None, *, changed: bool) -> Periods:
    """Return when the person held which seat of a game. Runs a query if staff have given seats of it away."""
    since: dict[int, int] = defaultdict(int)
    periods: Periods = []
    for change in read_owner_changes(game_id) if changed else ():
        if change.owner == person.pk:
            periods.append((change.seat, since[change.seat], change.version))
        since[change.seat] = change.version
    if seat is not None:
        periods.append((seat.index, since[seat.index], 2**31 - 1))
    return periods


def _moves(held: dict[int, Periods], most: int) -> dict[int, Rows]:
    """Return the moves of these periods by game, at most `most` of them. Runs one query."""
    moves: dict[int, Rows] = {game_id: [] for game_id in held}
    if most <= 0:
        return moves
    found = Move.objects.filter(game__in=held, seat__in={seat for rows in held.values() for seat, *_ in rows})
    lines = found.order_by("-game_id", "n").values_list("game_id", "seat", "n", "at", "text", "by_bot", "by_order")
    count = 0
    for game_id, seat, n, at, text, by_bot, by_order in lines.iterator():
        if any(own == seat and after < n <= to for own, after, to in held[game_id]):
            moves[game_id].append({"n": n, "at": at, "move": text, "by_bot": by_bot, "by_orders": by_order})
            count += 1
            if count == most:
                break
    return moves
