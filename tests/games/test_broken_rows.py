"""Test that one broken row does not stop other notices, mails and summaries."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache

from accounts.models import User
from games import queries
from games.models import Game, Notice, NoticeSettings
from games.notices import inbox, mail_links, player_notices, preferences
from mail import outbox, sources
from tests.conftest import logged_in, person
from tests.support.clocks import HOUR, MINUTE
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
DUE = NOON + 5 * MINUTE


@pytest.fixture(autouse=True)
def nobody_looks() -> None:
    cache.clear()


def on_turn(user: User, other: User) -> Game:
    table = table_at(TWO_HANDS, [user, other], deadline=NOON + 24 * HOUR)
    player_notices.deal(table, now=NOON)
    return table.game


def deliver(now: datetime = DUE) -> list[str]:
    """Send what is due; return the recipients of the mails."""
    before = len(mail.outbox)
    outbox.deliver(clock=lambda: now)
    return [message.to[0] for message in mail.outbox[before:]]


def break_options(game: Game) -> None:
    Game.objects.filter(pk=game.pk).update(preset="no such rules")


def break_zone(game: Game) -> None:
    user = game.seats.get(index=0).user
    assert user is not None
    User.objects.filter(pk=user.pk).update(time_zone="Nowhere/At_All", quiet_from=time(22), quiet_to=time(7))


def break_kind(game: Game) -> None:
    Notice.objects.filter(game=game).update(kind="of_tomorrow")


@pytest.mark.long
@pytest.mark.parametrize("breaks", [break_options, break_zone, break_kind])
def test_a_broken_notice_is_postponed_and_others_are_sent(
    alice: User, bob: User, breaks: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(outbox, "BATCH", 2)  # the broken ones are the first of every claim
    game = on_turn(alice, bob)
    people = [person(f"p{n}") for n in range(3)]
    for user in people:
        on_turn(user, bob)
    breaks(game)
    told = [address for minutes in range(3) for address in deliver(DUE + minutes * timedelta(seconds=10))]
    assert told == [user.email for user in people]
    row = Notice.objects.get(game=game, channel="email")
    assert (row.state, row.reason, row.tries, row.due_at) == ("waiting", "fault", 1, DUE + MINUTE)
    assert "a notice cannot be checked" in caplog.text
    if breaks is break_options:
        assert "Something went wrong on our side." in logged_in(alice).get("/notices/").content.decode()


@pytest.mark.long
def test_a_broken_notice_is_retried_less_and_less_and_then_given_up(alice: User, bob: User) -> None:
    game = on_turn(alice, bob)
    break_options(game)
    now, looks = DUE, 0
    while Notice.objects.filter(channel="email", state="waiting").exists():
        deliver(now)
        now, looks = max(now, Notice.objects.get(channel="email").due_at), looks + 1
    assert looks == sources.MOST_CHECKS + 1
    assert now - DUE > 2 * DAY
    assert set(Notice.objects.values_list("state", "reason")) == {("dropped", "fault")}


@pytest.mark.parametrize("kind", ["game_over", "caught", "seat_moved"])
def test_notices_of_an_unreadable_game_wait(alice: User, bob: User, kind: str) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    player_notices.write(game, [player_notices.NewNotice(alice.pk, kind)], now=NOON)
    break_options(game)
    assert deliver() == []
    waiting = Notice.objects.exclude(reason="off")
    assert set(waiting.values_list("state", "reason", "tries")) == {("waiting", "fault", 1)}


def test_a_repaired_notice_is_sent_with_all_its_tries(alice: User, bob: User) -> None:
    game = on_turn(alice, bob)
    break_options(game)
    assert deliver() == []
    Game.objects.filter(pk=game.pk).update(preset=game.preset)
    assert deliver(DUE + MINUTE) == [alice.email]
    assert set(Notice.objects.values_list("state", "tries")) == {("sent", 0)}


def test_a_mail_about_several_games_leaves_out_a_broken_one(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = [on_turn(alice, bob) for _ in range(3)]
    real = queries.view_of

    def view_of(table: Any, user: Any) -> Any:
        if table.game.pk == games[1].pk:
            raise ValueError
        return real(table, user)

    monkeypatch.setattr(queries, "view_of", view_of)
    assert deliver() == [alice.email]
    assert "2 games" in mail.outbox[-1].subject
    states = dict(Notice.objects.filter(channel="email").values_list("game", "state"))
    assert states == {games[0].pk: "sent", games[1].pk: "waiting", games[2].pk: "sent"}


def ask_for_summary(user: User, hour: int = 13) -> NoticeSettings:
    return preferences.choose(user=user, choices={}, digest_hour=hour, now=NOON)


def lose_zone(user: User) -> None:
    User.objects.filter(pk=user.pk).update(time_zone="Nowhere/At_All")


def test_a_summary_leaves_out_a_broken_game(alice: User, bob: User) -> None:
    broken, _ = on_turn(alice, bob), on_turn(alice, bob)
    Notice.objects.all().delete()
    ask_for_summary(alice)
    preferences.write_digests(now=NOON + HOUR)
    break_options(broken)
    assert deliver(NOON + HOUR) == [alice.email]
    assert mail.outbox[-1].subject == "1 game is waiting for you."


def test_a_failing_summary_does_not_stop_others_and_is_sent_later(
    alice: User, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    for user in (alice, bob):
        ask_for_summary(user)
    lose_zone(alice)
    on_turn(alice, bob)
    Notice.objects.all().delete()
    assert preferences.write_digests(now=NOON + HOUR) == 1
    assert Notice.objects.get().user == bob
    assert "a summary was not written" in caplog.text
    User.objects.filter(pk=alice.pk).update(time_zone="UTC")
    assert preferences.write_digests(now=NOON + HOUR) == 0
    assert preferences.write_digests(now=NOON + HOUR + MINUTE) == 1
    assert deliver(NOON + HOUR + MINUTE) == [alice.email]
    chosen = NoticeSettings.objects.get(user=alice)
    assert (chosen.digest_at, chosen.digest_again_at) == (NOON + 25 * HOUR, None)


@pytest.mark.long
def test_a_failing_summary_is_retried_less_and_less(alice: User) -> None:
    ask_for_summary(alice)
    lose_zone(alice)
    hour, waits = NOON + HOUR, []
    now = hour
    while now < hour + DAY:
        preferences.write_digests(now=now)
        again = NoticeSettings.objects.get(user=alice).digest_again_at
        assert again is not None
        assert preferences.write_digests(now=again - timedelta(seconds=1)) == 0
        waits.append((again - now) / MINUTE)
        now = again
    assert waits[:8] == [1, 1, 2, 4, 8, 16, 32, 60]
    assert set(waits[8:]) == {60}


def test_a_summary_sent_after_midnight_does_not_replace_the_next(alice: User) -> None:
    ask_for_summary(alice, 23)
    lose_zone(alice)
    evening, written = NOON + 11 * HOUR, 0
    for minutes in range(0, 90, 10):
        written += preferences.write_digests(now=evening + minutes * MINUTE)
    User.objects.filter(pk=alice.pk).update(time_zone="UTC")
    written += preferences.write_digests(now=evening + 3 * HOUR)
    written += preferences.write_digests(now=evening + DAY)
    assert written == Notice.objects.filter(kind="digest").count() == 2


@pytest.mark.parametrize("stop", [False, True])
def test_changing_the_hour_ends_the_wait_of_a_failing_summary(alice: User, stop: bool) -> None:
    chosen = ask_for_summary(alice)
    lose_zone(alice)
    preferences.write_digests(now=NOON + HOUR)
    if stop:
        link = mail_links.link_url(mail_links.STOP, user_id=alice.pk, target="digest", key=chosen.mail_key)
        preferences.stop(token=link.rstrip("/").rsplit("/", 1)[-1])
    else:
        preferences.choose(user=alice, choices={}, digest_hour=14, now=NOON + HOUR)
    chosen.refresh_from_db()
    assert chosen.digest_again_at is None
    assert chosen.digest_at == (None if stop else NOON + 2 * HOUR)


def test_an_unknown_notice_is_skipped(alice: User, bob: User, caplog: pytest.LogCaptureFixture) -> None:
    game, browser = on_turn(alice, bob), logged_in(alice)
    for number, kind in enumerate(("of_tomorrow", "round_over")):
        over = player_notices.NewNotice(alice.pk, "round_over", "over", {"number": number})
        player_notices.write(game, [over], now=NOON)
        deliver(NOON)
        Notice.objects.filter(facts={"number": number}).update(kind=kind)
    strange = Notice.objects.get(kind="of_tomorrow", channel="site")
    page = browser.get("/notices/?all=1").content.decode()
    assert "Round 1 is over." in page
    assert "of_tomorrow" not in page
    assert "of_tomorrow" in caplog.text
    assert inbox.badges_of(alice).notices == 1
    ask_for_summary(alice)
    preferences.write_digests(now=NOON + HOUR)
    deliver(NOON + HOUR)
    (summary,) = [message for message in mail.outbox if "waiting for you" in message.subject]
    assert "Round 1 is over." in summary.body
    assert "of_tomorrow" not in str(summary.body)
    assert browser.post(f"/notices/{strange.pk}/open/").headers["Location"] == game.get_absolute_url()
    Notice.objects.filter(pk=strange.pk).update(game=None)
    assert browser.post(f"/notices/{strange.pk}/open/").headers["Location"] == "/notices/"


def test_mails_that_all_fail_are_retried_soon(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    on_turn(alice, bob)
    with monkeypatch.context() as broken:
        broken.setattr("games.notices.notice_mails.readers_of", lambda people: 1 / 0)
        assert deliver() == []
    assert Notice.objects.get(channel="email").reason == "again"
    assert deliver(DUE + MINUTE) == [alice.email]
