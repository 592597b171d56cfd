"""Test the outbox: due notices are checked again, then shown or sent once and in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, time, timedelta
from email.message import EmailMessage
from typing import Any, Final

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import due_mails
from accounts.models import User
from games import presence
from games.actions import lobby
from games.clocks import quiet_hours
from games.models import Game, Notice, NoticeSettings, Seat
from games.notices import notice_mails, player_notices, preferences, reminders, source
from games.queries import Table, Viewer
from mail import claims, outbox
from tests.conftest import logged_in
from tests.support.clocks import HOUR, MINUTE, move
from tests.support.mail import links_in, parsed, text_of
from tests.support.notices import won
from tests.support.tables import NOON, TWO_HANDS, table_after, table_at

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
DUE = NOON + 5 * MINUTE


@pytest.fixture(autouse=True)
def nobody_looks() -> None:
    cache.clear()


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    """Return a table where it is Alice's turn and the turn notice is written."""
    found = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 24 * HOUR)
    player_notices.deal(found, now=NOON)
    return found


def deliver(now: datetime = DUE) -> list[EmailMessage]:
    """Send what is due; return the mails that were sent."""
    before = len(mail.outbox)
    outbox.deliver(clock=lambda: now)
    return [parsed(message.message().as_bytes()) for message in mail.outbox[before:]]


def states() -> dict[str, tuple[str, str]]:
    """Return state and reason by channel, for notices of which each channel has one, or equal ones."""
    return {row.channel: (row.state, row.reason) for row in Notice.objects.order_by("pk")}


def test_a_turn_notice_is_sent_once_when_its_wait_is_over(table: Table) -> None:
    assert deliver(DUE - MINUTE) == []
    assert states() == {"site": ("waiting", ""), "email": ("waiting", "")}
    (sent,) = deliver()
    assert sent["To"] == "alice@example.org"
    assert sent["Subject"] == "Your turn in No Mercy with bob"
    assert states() == {"site": ("sent", ""), "email": ("sent", "")}
    assert deliver(DUE + HOUR) == []


@pytest.mark.parametrize(("broken", "by"), [(source, "site"), (due_mails, "email")])
def test_a_fault_of_one_source_in_a_channel_does_not_stop_the_others(
    table: Table, monkeypatch: pytest.MonkeyPatch, broken: Any, by: str
) -> None:
    real = broken.SOURCE

    def fault(channel: str, now: datetime, most: int) -> Any:
        if channel == by:
            raise RuntimeError("a bug")
        return real.judge_due(channel, now, most)

    monkeypatch.setattr(broken, "SOURCE", dataclasses.replace(real, judge_due=fault))
    with pytest.raises(ExceptionGroup) as caught:
        deliver()
    assert [str(error) for error in caught.value.exceptions] == ["a bug"]
    assert states()["email"] == ("sent", "")


def restore_to(rows: dict[int, datetime]) -> None:
    """Let notices by mail wait again as after a restore: the numbers and when the notices with them were made."""
    for pk, made in rows.items():
        Notice.objects.filter(pk=pk).update(state="waiting", created_at=made, due_at=DUE)


@pytest.mark.long
def test_mails_about_other_news_have_other_message_ids_after_a_restore(table: Table, alice: User) -> None:
    """Some mail programs hide a mail whose Message-ID they know."""
    news = [won(alice.pk, winner) for winner in ("Bob", "Eve")]
    for number, one in enumerate(news):
        table.game.version += number
        player_notices.write(table.game, [one], now=NOON)
    first, second = Notice.objects.filter(kind="game_over", channel="email").order_by("pk").values_list("pk", flat=True)
    Notice.objects.exclude(pk=first).update(state="dropped")
    (alone,) = deliver()
    restore_to({first: NOON})
    (again,) = deliver()
    restore_to({first: NOON + MINUTE})  # another notice has the number
    (other,) = deliver()
    restore_to({first: NOON, second: NOON})
    (both,) = deliver()
    assert alone["Message-ID"] == again["Message-ID"]
    assert len({sent["Message-ID"] for sent in (alone, other, both)}) == 3


def end(table: Table) -> None:
    Game.objects.filter(pk=table.game.pk).update(status="void", deadline=None)


def pass_the_turn(table: Table) -> None:
    table.started.round.turn = 1
    table.started.round.save(update_fields=["turn"])


def hand_to_a_bot(table: Table) -> None:
    table.seats[0].bot = "careful"
    table.seats[0].save(update_fields=["bot"])


def open_game_page(table: Table) -> None:
    presence.mark_viewing(game_id=table.game.pk, user_id=table.seats[0].user_id or 0)


TAKEN: Final = (
    "No Mercy with bob: You missed too many turns, so a bot is keeping your seat warm. Take it back any time."
)
OVER: Final = {"status": "over", "winner": 1, "deadline": None, "finished_at": NOON}


@pytest.mark.parametrize(
    ("seat", "game", "viewed", "reason", "link"),
    [
        ({}, {}, False, "", "Take your seat back"),
        ({}, {}, True, "", "Take your seat back"),  # a viewed game counts longer than a turn of a live table
        ({"bot": ""}, {}, False, "back", ""),
        ({"user": None}, {}, False, "staff", ""),
        ({"left": True}, {}, False, "staff", ""),
        ({}, OVER, False, "", "Open the table"),
        ({"bot": ""}, OVER, False, "back", ""),
        ({}, {"status": "void", "deadline": None}, False, "over", ""),
    ],
    ids=["plays", "viewed", "taken back", "given away", "out", "ended", "ended without the bot", "called off"],
)
def test_a_takeover_notice_is_sent_while_the_seat_is_the_owner_s_and_the_bot_s(
    table: Table, seat: dict[str, object], game: dict[str, object], viewed: bool, reason: str, link: str
) -> None:
    Notice.objects.all().delete()
    player_notices.bot_took_over(table, table.seats[0], now=NOON)
    Seat.objects.filter(pk=table.seats[0].pk).update(**{"bot": "careful"} | seat)
    Game.objects.filter(pk=table.game.pk).update(**{"deadline": table.game.deadline} | game)
    if viewed:
        open_game_page(table)
    mails = deliver(NOON)
    assert set(states().values()) == {("dropped", reason) if reason else ("sent", "")}
    assert [sent["Subject"] for sent in mails] == ([] if reason else [TAKEN])
    for sent in mails:
        assert f"{link}: http" in text_of(sent)
        assert f">{link}</a>" in text_of(sent, "html")


@pytest.mark.parametrize(
    ("change", "reason"),
    [(end, "over"), (pass_the_turn, "moved_on"), (hand_to_a_bot, "moved_on"), (open_game_page, "looking")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_notice_is_checked_again_before_it_is_sent(
    table: Table, change: Callable[[Table], None], reason: str
) -> None:
    change(table)
    assert deliver() == []
    assert states() == dict.fromkeys(("site", "email"), ("dropped", reason))


def test_viewing_another_game_does_not_hold_back_a_notice(table: Table, alice: User, bob: User) -> None:
    open_game_page(table_at(TWO_HANDS, [alice, bob]))
    assert len(deliver()) == 1


def test_the_notice_of_a_paused_turn_waits(table: Table) -> None:
    paused = {"paused_at": NOON, "paused_reasons": ["staff"], "deadline": None, "remind_at": None}
    Game.objects.filter(pk=table.game.pk).update(**paused)
    assert deliver() == []
    assert states() == dict.fromkeys(("site", "email"), ("waiting", "paused"))
    Game.objects.filter(pk=table.game.pk).update(paused_at=None, paused_reasons=[], deadline=NOON + DAY)
    assert len(deliver(DUE + 15 * MINUTE)) == 1


def another_turn(alice: User, bob: User) -> Table:
    """Return another table where it is Alice's turn. The wait of its notice ends four minutes later."""
    found = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 3 * HOUR)
    player_notices.deal(found, now=NOON + 4 * MINUTE)
    return found


def test_several_games_share_one_mail_with_the_most_urgent_first(table: Table, alice: User, bob: User) -> None:
    another_turn(alice, bob)
    (sent,) = deliver()
    assert sent["Subject"] == "Your turn in 2 games: No Mercy with bob; No Mercy with bob"
    text = text_of(sent)
    assert text.index("Saturday 21 November, 15:00") < text.index("Sunday 22 November, 12:00")
    assert len([link for link in links_in(sent) if "/mail/open/" in link]) == 2
    assert states() == {"site": ("waiting", ""), "email": ("sent", "")}
    assert deliver(DUE + HOUR) == []


def test_a_batch_of_turn_mails_reads_all_its_games_together(
    table: Table, alice: User, bob: User, charlie: User
) -> None:
    def count_queries(tables: list[Table]) -> int:
        rows = [
            Notice(pk=number, user=one.seats[0].user, game=one.game, kind="turn", created_at=NOON)
            for number, one in enumerate(tables, 1)
        ]
        with CaptureQueriesContext(connection) as queries:
            assert all(made for _, made in notice_mails.compose(rows, now=NOON))
        return len(queries)

    people = (alice, bob, charlie, alice)
    tables = [table_after([user, "careful"], 3, seed, deadline=NOON + DAY) for seed, user in enumerate(people)]
    count_queries(tables)  # writes the settings of these people
    assert count_queries(tables) == count_queries([table]) == 6


def test_a_dropped_notice_does_not_send_others_early(table: Table, alice: User, bob: User) -> None:
    another_turn(alice, bob)
    open_game_page(table)
    assert deliver() == []
    assert len(deliver(DUE + 5 * MINUTE)) == 1


def remind(table: Table) -> None:
    Game.objects.filter(pk=table.game.pk).update(remind_at=DUE)
    reminders.remind(now=DUE)


def test_a_reminder_replaces_the_turn_mail(table: Table) -> None:
    remind(table)
    (sent,) = deliver(NOON + 20 * HOUR)
    assert sent["Subject"] == "Your time is running out in No Mercy with bob"
    assert Notice.objects.get(kind="turn", channel="email").reason == "reminded"


def test_a_reminder_is_sent_to_somebody_who_looks_at_the_game(table: Table) -> None:
    open_game_page(table)
    assert deliver() == []
    remind(table)
    deliver(NOON + 20 * HOUR)
    assert list(Notice.objects.order_by("pk").values_list("kind", "channel", "state", "reason")) == [
        ("turn", "site", "dropped", "looking"),
        ("turn", "email", "dropped", "looking"),
        ("deadline", "site", "sent", ""),
        ("deadline", "email", "sent", ""),
    ]


@pytest.mark.parametrize("later", [timedelta(), 20 * HOUR])
def test_a_reminder_of_a_deadline_that_has_moved_is_not_sent(table: Table, later: timedelta) -> None:
    remind(table)
    Game.objects.filter(pk=table.game.pk).update(deadline=NOON + 3 * DAY)
    (sent,) = deliver(DUE + later)
    assert sent["Subject"].startswith("Your turn")
    assert set(Notice.objects.filter(kind="deadline").values_list("state", "reason")) == {("dropped", "later")}


@pytest.mark.parametrize(
    ("verified", "needed", "reason"),
    [(True, True, ""), (False, True, "unverified"), (None, True, "unverified"), (False, False, "")],
)
def test_in_production_only_a_confirmed_address_gets_mail(
    table: Table, alice: User, verified: bool | None, needed: bool, reason: str
) -> None:
    if verified is not None:
        EmailAddress.objects.create(user=alice, email=alice.email, primary=True, verified=verified)
    with override_settings(MAIL_NEEDS_VERIFIED=needed):
        sent = deliver()
    assert (len(sent), states()["email"][1]) == (int(not reason), reason)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"email": ""}, "no_address"),
        ({"email": "=?utf-8?q?=62ob?=@example.org"}, "no_address"),
        ({"is_active": False}, "closed"),
    ],
    ids=str,
)
def test_people_without_an_address_or_with_a_closed_account_get_no_mail(
    table: Table, alice: User, change: dict[str, Any], reason: str
) -> None:
    User.objects.filter(pk=alice.pk).update(**change)
    assert deliver() == []
    assert states() == {"site": ("sent", ""), "email": ("dropped", reason)}


def quiet(user: User, until: time) -> None:
    User.objects.filter(pk=user.pk).update(quiet_from=time(11), quiet_to=until)


@pytest.mark.parametrize(
    ("rest", "reason", "hours"),
    [
        ({"quiet_from": time(11), "quiet_to": time(18)}, "night", 6),
        ({"vacation_until": NOON + 12 * HOUR}, "vacation", 12),
    ],
)
def test_a_turn_mail_waits_for_the_end_of_quiet_hours_or_a_vacation(
    table: Table, alice: User, rest: dict[str, object], reason: str, hours: int
) -> None:
    User.objects.filter(pk=alice.pk).update(**rest)
    assert deliver() == []
    assert states() == {"site": ("sent", ""), "email": ("waiting", reason)}
    assert len(deliver(NOON + hours * HOUR)) == 1


def test_a_turn_mail_does_not_wait_for_a_vacation_after_the_end_of_the_turn(table: Table, alice: User) -> None:
    Game.objects.filter(pk=table.game.pk).update(vacations=False, deadline=NOON + 11 * HOUR)
    User.objects.filter(pk=alice.pk).update(vacation_until=NOON + 12 * HOUR)
    assert len(deliver()) == 1


def test_waiting_mail_is_sent_when_quiet_hours_are_removed(alice: User, table: Table) -> None:
    quiet(alice, time(18))
    assert deliver() == []
    answer = logged_in(alice).post("/accounts/me/rest/", {"quiet_from": "", "quiet_to": ""}, follow=True)
    assert "Saved." in answer.content.decode()
    quiet_hours.follow_time_off(user_id=alice.pk, now=timezone.now())
    assert len(deliver(timezone.now() + MINUTE)) == 1


@pytest.mark.parametrize("reminded", [False, True])
def test_a_turn_that_ends_soon_after_quiet_hours_is_mailed_during_them(
    table: Table, alice: User, reminded: bool
) -> None:
    quiet(alice, time(18))
    Game.objects.filter(pk=table.game.pk).update(deadline=NOON + 6 * HOUR + 30 * MINUTE)
    if reminded:
        remind(table)
    assert len(deliver()) == 1


def test_a_reminder_waits_if_there_is_time_after_quiet_hours(table: Table, alice: User) -> None:
    quiet(alice, time(18))
    remind(table)
    assert deliver() == []
    reminder = Notice.objects.get(kind="deadline", channel="email")
    assert (reminder.state, reminder.reason, reminder.due_at) == ("waiting", "night", NOON + 6 * HOUR)
    (sent,) = deliver(NOON + 6 * HOUR)  # in the morning the reminder replaces the turn mail
    assert sent["Subject"].startswith("Your time is running out")
    assert Notice.objects.get(kind="turn", channel="email").reason == "reminded"


def test_held_mail_is_checked_again_after_the_release(table: Table, alice: User, bob: User) -> None:
    outbox.hold(why="restored from a backup", now=NOON)
    other = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 24 * HOUR)
    player_notices.deal(other, now=NOON)
    assert deliver() == []
    assert states() == {"site": ("sent", ""), "email": ("waiting", "")}
    end(other)
    assert outbox.release()
    assert not outbox.release()
    (sent,) = deliver()
    assert "2 games" not in sent["Subject"]


def test_a_summary_is_sent_once_a_day_at_its_hour(table: Table, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Europe/Helsinki")
    alice.refresh_from_db()
    chosen = preferences.choose(user=alice, choices={}, digest_hour=18, now=NOON)
    assert chosen.digest_at == NOON + 4 * HOUR
    assert preferences.write_digests(now=NOON + 4 * HOUR - MINUTE) == 0
    assert preferences.write_digests(now=NOON + 4 * HOUR) == 1
    assert preferences.write_digests(now=NOON + 4 * HOUR) == 0
    (sent,) = [found for found in deliver(NOON + 4 * HOUR) if "waiting" in found["Subject"]]
    assert sent["Subject"] == "1 game is waiting for you."
    assert "You have until Sunday 22 November, 14:00 (Europe/Helsinki)." in text_of(sent)
    assert NoticeSettings.objects.get(user=alice).digest_at == NOON + 28 * HOUR


def test_an_empty_summary_is_not_sent(bob: User) -> None:
    preferences.choose(user=bob, choices={}, digest_hour=13, now=NOON)
    preferences.write_digests(now=NOON + HOUR)
    assert deliver(NOON + HOUR) == []
    assert states() == {"email": ("dropped", "nothing")}


def test_a_summary_lists_what_happened(table: Table, alice: User) -> None:
    player_notices.write(table.game, [won(alice.pk, "Bob")], now=NOON)
    preferences.choose(user=alice, choices={"turn.email": False}, digest_hour=13, now=NOON)
    Notice.objects.filter(kind="turn", channel="email").delete()
    deliver()
    preferences.write_digests(now=NOON + HOUR)
    (sent,) = deliver(NOON + HOUR)
    assert "- Bob wins the round." in text_of(sent)


def test_a_summary_follows_its_reader_to_another_time_zone(bob: User) -> None:
    preferences.choose(user=bob, choices={}, digest_hour=13, now=NOON)
    User.objects.filter(pk=bob.pk).update(time_zone="America/New_York")
    assert preferences.write_digests(now=NOON + HOUR) == 0
    assert NoticeSettings.objects.get(user=bob).digest_at == NOON + 6 * HOUR


@pytest.mark.parametrize(
    ("now", "hour", "expected"),
    [
        ("2026-03-28T12:00+00:00", 3, "2026-03-29T01:00+00:00"),  # DST skips 3:00, so it is at 4:00
        ("2026-10-24T12:00+00:00", 3, "2026-10-25T00:00+00:00"),  # 3:00 comes twice, so it is at the first
        ("2026-11-21T12:00+00:00", 14, "2026-11-22T12:00+00:00"),  # that hour is now, so it is tomorrow
        ("2026-11-21T12:00+00:00", 15, "2026-11-21T13:00+00:00"),
    ],
)
def test_the_next_summary_is_computed_in_local_time(now: str, hour: int, expected: str) -> None:
    at = preferences.next_digest("Europe/Helsinki", hour, datetime.fromisoformat(now))
    assert at == datetime.fromisoformat(expected)
    assert preferences.next_digest("Europe/Helsinki", hour, at - timedelta(seconds=1)) == at


def test_a_mail_that_cannot_be_made_is_tried_again_and_given_up_after_the_last_try(
    table: Table, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    player_notices.write(table.game, [won(bob.pk, "Bob")], now=NOON)
    monkeypatch.setattr("games.notices.emails.turn_mail", lambda *args, **kwargs: 1 / 0)
    now, waits, sent = DUE, [], []
    for tries in range(1, claims.MOST_TRIES + 1):
        sent += deliver(now)
        row = Notice.objects.get(user=alice, channel="email")
        if tries < claims.MOST_TRIES:
            assert (row.state, row.reason, row.tries) == ("waiting", "again", tries)
        waits.append((row.due_at - now) // MINUTE)
        now = max(now, row.due_at)
    assert [one["To"] for one in sent] == ["bob@example.org"]
    assert waits[:-1] == [1, 4, 16, 64, 256]
    assert (row.state, row.reason) == ("failed", "gave_up")


def test_old_notices_are_deleted_unless_they_wait(table: Table) -> None:
    Notice.objects.filter(channel="site").update(state="sent")
    assert preferences.forget_old(now=NOON + 59 * DAY) == 0
    assert preferences.forget_old(now=NOON + 61 * DAY) == 1
    assert states() == {"email": ("waiting", "")}


@pytest.mark.parametrize(("answer", "reason"), [("sits down", "joined"), ("comes too late", "over"), ("waits", "")])
def test_an_invitation_is_sent_only_while_the_table_is_open(alice: User, bob: User, answer: str, reason: str) -> None:
    game = lobby.create_table(user=bob, choices=lobby.TableChoices(players=3), now=NOON).game
    player_notices.invited(game, [alice.pk], asker=bob, now=NOON)
    if answer == "sits down":
        lobby.join(code=game.code, viewer=Viewer(alice), now=NOON)
    elif answer == "comes too late":
        Game.objects.filter(pk=game.pk).update(status="void")
    sent = deliver()
    assert [found["Subject"] for found in sent] == (
        [] if reason else ["No Mercy with bob: bob invites you to a rematch."]
    )
    assert states()["email"][1] == reason


def test_a_backlog_of_mail_is_sent_once_and_in_order(alice: User, bob: User, charlie: User) -> None:
    people = [alice, bob, charlie]
    for user, other in zip(people, (charlie, alice, bob), strict=True):
        move(table_at(TWO_HANDS, [other, user], deadline=NOON + DAY), other, "play r5")
    assert [found["To"] for found in deliver(NOON + HOUR)] == [user.email for user in people]
    assert deliver(NOON + 2 * HOUR) == []


def test_the_page_of_a_new_password_says_that_mail_is_held(client: Client, db: None) -> None:
    assert "is on its way" in client.get("/accounts/password/reset/done/").content.decode()
    outbox.hold(why="restored from a backup", now=NOON)
    shown = client.get("/accounts/password/reset/done/").content.decode()
    assert "have stopped all email for now" in shown
    assert "is on its way" not in shown
