"""Test the bell, the page of notices, the settings page, and what happens to a bounced address."""

from __future__ import annotations

import io
import re
import time
from datetime import timedelta
from importlib import import_module
from typing import Any, Final

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client, override_settings
from django.utils import timezone

from accounts.models import User
from games import presence, rules
from games.models import Invitation, Notice, NoticeSettings
from games.notices import inbox, player_notices, preferences, sentences
from games.notices.kinds import GROUPS
from games.queries import Table
from mail import outbox
from mail.channels import CHANNELS
from tests.conftest import logged_in
from tests.support.mail import deliver_now, links_in, parsed
from tests.support.notices import won
from tests.support.pages import Page, text_of, words_of
from tests.support.tables import TWO_HANDS, table_after, table_at

pytestmark = pytest.mark.django_db

NEWS = "bob catches you not calling UNO."


@pytest.fixture(autouse=True)
def nobody_looks() -> None:
    cache.clear()


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


def news(table: Table, user: User) -> None:
    """Show this person a notice on the site."""
    table.game.version += 1
    caught = sentences.event([user.pk, "bob"], rules.Event("caught", 1, target=0, amount=2), reader=0)
    notice = player_notices.NewNotice(user.pk, "caught", sentences.EVENT, {sentences.EVENT: caught})
    player_notices.write(table.game, [notice], now=timezone.now())
    outbox.deliver(clock=timezone.now)


def bell(response: Any) -> str:
    return words_of(Page(response).one("a", class_="bell"))


def over(table: Table, user: User) -> None:
    """Write a notice of the end of a game, which is mailed."""
    player_notices.write(table.game, [won(user.pk, "Bob")], now=timezone.now())


def fields(**changes: str) -> dict[str, str]:
    """Return the data of the settings form with the defaults and these changes. An empty value clears a box."""
    usual = {
        f"{name}.{channel}": "on" for name, group in GROUPS.items() for channel in CHANNELS if group.usual(channel)
    }
    sent = {**usual, "digest_hour": "", **changes}
    return {name: value for name, value in sent.items() if value or name == "digest_hour"}


@pytest.mark.long
def test_the_page_lists_every_notice_that_the_bell_counts(
    table: Table, alice: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def new(page: Page) -> int:
        return len(list(page.all("span", class_="tag hot")))

    monkeypatch.setattr(inbox, "LISTED", 6)
    monkeypatch.setattr(inbox, "UNREAD_LISTED", 3)

    def mailed(count: int) -> None:
        for _ in range(count):
            table.game.version += 1
            over(table, alice)
            outbox.deliver(clock=timezone.now)

    mailed(2)
    now = timezone.now()
    Notice.objects.bulk_create(
        Notice(
            user=alice, game=table.game, version=1000 + n, kind="turn", channel="email", state=Notice.State.DROPPED,
            reason="moved", created_at=now, due_at=now, since=now,
        )
        for n in range(8)
    )  # fmt: skip
    page = Page(as_alice.get("/notices/"))
    assert (bell(page.response).endswith("2 new"), new(page)) == (True, 2)
    assert page.text.count("By email: sent") == 2  # the mails of the same events
    assert "Only the newest" not in page.text
    mailed(8)
    page = Page(as_alice.get("/notices/"))
    assert (bell(page.response).endswith("10 new"), new(page)) == (
        True,
        6,
    )  # six rows are three events, and three older
    assert "Only the newest 6 of 10 new notifications are listed." in page.text
    as_alice.post("/notices/read/", {"up_to": max(Notice.objects.values_list("pk", flat=True))})
    assert bell(as_alice.get("/notices/")) == "Notifications"


def test_the_bell_counts_unread_notices_on_every_page_and_in_updates(
    table: Table, alice: User, as_alice: Client, as_bob: Client
) -> None:
    assert bell(as_alice.get("/rules/")) == "Notifications"
    news(table, alice)
    news(table, alice)
    for path in ("/", "/rules/", "/accounts/me/", table.game.get_absolute_url()):
        assert bell(as_alice.get(path)).endswith("Notifications, 2 new")
    assert bell(as_bob.get("/")) == "Notifications"
    part = Page(as_alice.get(table.game.get_absolute_url(), headers={"HX-Request": "true"}))
    assert "2 new" in part.part("bell")


def test_a_visitor_has_no_bell(client: Client, table: Table) -> None:
    assert client.get("/notices/").status_code == 302
    part = Page(client.get(table.game.get_absolute_url(), headers={"HX-Request": "true"}))
    assert "hx-swap-oob" in part.html
    for page in (part, Page(client.get("/"))):
        assert not page.has(id="bell")
    assert not part.has(id="next-game")


def test_the_page_says_what_was_sent_and_what_was_not_and_why(table: Table, alice: User, as_alice: Client) -> None:
    NoticeSettings.objects.create(user=alice, choices={"game_over.email": False})
    over(table, alice)
    outbox.deliver(clock=timezone.now)
    page = Page(as_alice.get("/notices/"))

    assert "Bob wins the round. new Your table, with bob" in page.text
    (fold,) = page.all("details")
    told = re.sub(r"\d\d:\d\d", "12:00", words_of(fold))
    assert told == (
        "Where it went On this site: shown 12:00"
        " By email: not sent 12:00 . This is switched off in your notification settings."
    )


def test_unneeded_notices_are_shown_on_request(table: Table, as_alice: Client) -> None:
    player_notices.deal(table, now=timezone.now())
    Notice.objects.update(state="dropped", reason="looking")
    page = text_of(as_alice.get("/notices/"))
    assert "1 was not needed, for example because you were looking at the game" in page
    assert "You have no notifications yet" not in page
    assert "You were looking at the game." in text_of(as_alice.get("/notices/?all=1"))


def test_mark_all_as_read_leaves_newer_notices_unread(table: Table, alice: User, as_alice: Client) -> None:
    news(table, alice)
    page = Page(as_alice.get("/notices/"))
    news(table, alice)
    assert as_alice.post("/notices/read/", {"up_to": page.field("up_to")}).status_code == 303
    assert bell(as_alice.get("/")).endswith("1 new")


def test_a_waiting_notice_and_an_invalid_number_are_not_found(as_alice: Client, table: Table, alice: User) -> None:
    for number in ("", "x", "-1", "9" * 30, "١"):
        assert as_alice.post("/notices/read/", {"up_to": number}).status_code == 404, number
    player_notices.write(table.game, [player_notices.NewNotice(alice.pk, "turn")], now=timezone.now())
    waiting = Notice.objects.get(channel="site", state="waiting")
    assert as_alice.post(f"/notices/{waiting.pk}/open/").status_code == 404
    waiting.refresh_from_db()
    assert waiting.read_at is None


def test_a_notice_that_is_shown_is_opened_by_its_reader_only(
    table: Table, alice: User, as_bob: Client, as_alice: Client
) -> None:
    news(table, alice)
    number = Notice.objects.get(channel="site").pk
    assert as_bob.post(f"/notices/{number}/open/").status_code == 404
    as_bob.post("/notices/read/", {"up_to": str(number)})
    assert Notice.objects.get(channel="site").read_at is None
    assert NEWS not in text_of(as_bob.get("/notices/?all=1"))
    assert as_alice.get(f"/notices/{number}/open/").status_code == 405
    answer = as_alice.post(f"/notices/{number}/open/")
    assert (answer.status_code, answer.headers["Location"]) == (303, table.game.get_absolute_url())
    assert bell(as_alice.get("/")) == "Notifications"


def told_of(alice: User, bob: User, mo: User, count: int) -> None:
    """Write this many notices for alice at four tables: her own, one where she lost her seat, and two rematches."""
    seats: list[tuple[list[User], bool]] = [([alice, bob], True), ([mo, bob], False)]
    for _ in range(count):
        for people, public in seats:
            news(table_at(TWO_HANDS, people, is_public=public), alice)
        for invited in (alice, mo):
            table = table_at(TWO_HANDS, [mo, bob], is_public=False)
            Invitation.objects.create(game=table.game, user=invited, at=timezone.now())
            news(table, alice)


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 7])
def test_the_number_of_notices_does_not_change_the_cost(
    alice: User, bob: User, mo: User, as_alice: Client, count: int, django_assert_num_queries: Any
) -> None:
    told_of(alice, bob, mo, count)
    with django_assert_num_queries(8):
        page = text_of(as_alice.get("/notices/"))
    assert page.count(NEWS) == 4 * count
    assert (page.count("Your table, with bob"), page.count("mo’s table, with bob")) == (count, count)


# Who looks


def looks(table: Table, user: User) -> bool:
    return bool(presence.viewing([(table.game.pk, user.pk)]))


def fetch(client: Client, table: Table, idle: int | str | None, query: str = "") -> Any:
    """Fetch the game as an open page does. `idle` is the seconds since the last sign of a person, if there was one."""
    sign = {} if idle is None else {"X-Idle-Seconds": str(idle)}
    return client.get(table.game.get_absolute_url() + query, headers={"HX-Request": "true", **sign})


def test_loading_a_page_marks_a_player_as_viewing(
    table: Table, alice: User, bob: User, charlie: User, as_alice: Client
) -> None:
    as_alice.get(table.game.get_absolute_url())
    logged_in(charlie).get(table.game.get_absolute_url())
    assert [looks(table, user) for user in (alice, bob, charlie)] == [True, False, False]


@pytest.mark.parametrize("user", [{"Sec-Fetch-User": "?1"}, {}], ids=["by a person", "by itself"])
def test_a_page_that_is_loaded_by_itself_marks_nobody(
    table: Table, alice: User, as_alice: Client, user: dict[str, str]
) -> None:
    """Scripts reload a page after an upgrade or an outage, and a refresh without scripts."""
    as_alice.get(table.game.get_absolute_url(), headers={"Sec-Fetch-Mode": "navigate", **user})
    assert looks(table, alice) == bool(user)


@pytest.mark.parametrize("idle", [0, 179, 180, None, "", -1, "1e1", "9" * 5000])
def test_what_a_page_fetches_by_itself_counts_only_after_a_sign_of_a_person(
    table: Table, alice: User, as_alice: Client, idle: int | str | None
) -> None:
    assert fetch(as_alice, table, idle).status_code == 200
    assert looks(table, alice) == (idle in (0, 179))


def test_a_move_is_a_sign_of_a_person(table: Table, alice: User, as_alice: Client) -> None:
    sent = {"version": "0", "move": "play r5"}
    as_alice.post(f"{table.game.get_absolute_url()}move/", sent, headers={"HX-Request": "true"})
    assert looks(table, alice)


def test_a_sign_counts_for_three_minutes_whatever_other_pages_tell_later(
    table: Table, alice: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = time.time()
    seen = {}
    for second, idle in ((0, 60), (10, 0), (20, 170), (100, None), (189, None), (191, None)):
        monkeypatch.setattr(time, "time", lambda second=second: start + second)
        fetch(as_alice, table, idle)
        seen[second] = looks(table, alice)
    assert seen == {0: True, 10: True, 20: True, 100: True, 189: True, 191: False}


@pytest.mark.parametrize("idle", [None, 5])
def test_a_lobby_that_reloads_when_the_game_starts_counts_only_after_a_sign(
    table: Table, alice: User, as_alice: Client, idle: int | None
) -> None:
    assert "HX-Refresh" in fetch(as_alice, table, idle, "?lobby=1").headers
    as_alice.get(table.game.get_absolute_url())
    assert looks(table, alice) == (idle is not None)
    as_alice.get(table.game.get_absolute_url())  # a page that they load themselves
    assert looks(table, alice)


@pytest.mark.parametrize("idle", [None, 5])
def test_the_end_of_a_game_is_marked_as_seen_only_by_a_page_that_somebody_looks_at(
    alice: User, bob: User, as_alice: Client, idle: int | None
) -> None:
    table = table_after([alice, bob], 10_000, seed=3)
    path = f"{table.game.get_absolute_url()}seen/"
    shown = Page(fetch(as_alice, table, idle))
    assert shown.has(action=path)  # the button
    assert shown.has(hx_post=path) == (idle is not None)


# The settings page


def test_the_settings_page_shows_and_saves_choices(alice: User, as_alice: Client) -> None:
    answer = as_alice.post("/notices/settings/", fields(**{"turn.email": "", "digest_hour": "7"}))
    assert answer.status_code == 303
    chosen = NoticeSettings.objects.get(user=alice)
    assert chosen.choices == {"turn.email": False}
    assert (chosen.digest_hour, chosen.digest_at is not None) == (7, True)
    again = Page(as_alice.get("/notices/settings/"))
    checked = [bool(again.chosen(name)) for name in ("turn.site", "turn.email")]
    assert (checked, again.chosen("digest_hour")) == ([True, False], ["7"])


PLAYERS: Final = ["My turn", "Time runs short", "Invitations", "Results"]


def cells(client: Client) -> tuple[list[str], list[str]]:
    """Return the rows of the settings page, and the labels of their boxes, row by row."""
    page = Page(client.get("/notices/settings/"))
    rows = [head.text or "" for head in page.all("th", scope="row")]
    return rows, [words_of(label) for label in page.all("label") if label.find("input") is not None]


def test_players_have_a_row_for_each_group_and_staff_two_more(as_alice: Client, mo: User) -> None:
    rows, labels = cells(as_alice)
    assert rows == [*PLAYERS, "Daily summary"]
    assert labels == [f"{row}: {channel}" for row in PLAYERS for channel in ("On this site", "By email")]
    assert cells(logged_in(mo))[0] == [*rows, "Cases", "Appeals"]


def test_a_channel_has_a_column_for_those_it_reaches(table: Table, alice: User, as_alice: Client) -> None:
    NoticeSettings.objects.create(user=alice, choices={"game_over.push": False, "invited.email": False})
    User.objects.filter(pk=alice.pk).update(is_guest=True, has_push=True)
    rows, labels = cells(as_alice)
    assert rows == PLAYERS  # the summary goes by mail
    assert labels == [f"{row}: {channel}" for row in PLAYERS for channel in ("On this site", "On your devices")]
    as_alice.post("/notices/settings/", fields(**{"turn.push": "", "digest_hour": ""}))
    # What has no column stays as it was.
    assert NoticeSettings.objects.get(user=alice).choices == {"turn.push": False, "invited.email": False}
    player_notices.write(
        table.game,
        [player_notices.NewNotice(alice.pk, kind) for kind in ("turn", "invited", "out")],
        now=timezone.now(),
    )
    rows_of = Notice.objects.filter(channel="push").order_by("pk")
    assert list(rows_of.values_list("kind", "reason")) == [("turn", "off"), ("invited", "")]


def test_what_always_comes_is_mailed_until_an_earlier_choice_and_cannot_be_switched_off(
    alice: User, as_alice: Client
) -> None:
    def mailed() -> list[Any]:
        warning = player_notices.NewNotice(alice.pk, "warned", "warned", {"reason": "Be kind."})
        player_notices.write(None, [warning], now=timezone.now(), occasion=Notice.objects.count())
        before = len(mail.outbox)
        outbox.deliver(clock=timezone.now)
        return mail.outbox[before:]

    NoticeSettings.objects.create(user=alice, choices={"warned.email": False})  # as release 0.1 stored it
    assert mailed() == []
    as_alice.post("/notices/settings/", {"digest_hour": ""})
    (message,) = mailed()
    assert "such emails always come" in message.body
    assert "List-Unsubscribe" not in message.extra_headers


def test_the_upgrade_keeps_what_was_chosen_for_the_most_important_kind_of_a_group(table: Table, alice: User) -> None:
    chosen = {"game_over.email": False, "round_over.site": False, "deadline.site": False, "warned.email": False}
    NoticeSettings.objects.create(user=alice, choices={**chosen, "caught.email": True, "table_full.email": False})
    NoticeSettings.objects.create(user=User.objects.get(username="bob"), choices={"out.email": True})
    over(table, alice)
    Notice.objects.update(kind="caught", state="waiting")
    upgrade = import_module("games.migrations.0076_groups_of_notices")
    with connection.cursor() as cursor:
        for statement in (upgrade.FORGET, upgrade.DROP_MAILS):
            cursor.execute(statement)
    del chosen["round_over.site"]
    assert list(NoticeSettings.objects.order_by("pk").values_list("choices", flat=True)) == [chosen, {}]
    assert dict(Notice.objects.values_list("channel", "state")) == {"site": "waiting", "email": "dropped"}


@pytest.mark.parametrize("hour", ["24", "-1", "x", "7.5"])
def test_an_invalid_hour_is_refused_and_the_form_is_kept(alice: User, as_alice: Client, hour: str) -> None:
    answer = Page(as_alice.post("/notices/settings/", fields(**{"turn.email": "", "digest_hour": hour})))
    assert (answer.status, answer.chosen("turn.email")) == (422, [])
    assert not NoticeSettings.objects.filter(user=alice).exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"is_guest": True}, "Guests get no email"),
        ({"email": ""}, "has no email address"),
        ({}, "alice@example.org is not confirmed yet"),
    ],
    ids=str,
)
def test_the_settings_page_says_why_no_mail_arrives(
    alice: User, as_alice: Client, change: dict[str, Any], says: str
) -> None:
    User.objects.filter(pk=alice.pk).update(**change)
    with override_settings(MAIL_NEEDS_VERIFIED=True):
        assert says in text_of(as_alice.get("/notices/settings/"))


def test_the_settings_page_says_what_holds_notices_back(alice: User, as_alice: Client) -> None:
    def says(what: str) -> bool:
        page = Page(as_alice.get("/notices/settings/"))
        assert page.has("a", href="/accounts/me/rest/") == (what in page.text)
        return what in page.text

    hour, now = timedelta(hours=1), timezone.now()
    assert not says("only what is urgent leaves this site")
    User.objects.filter(pk=alice.pk).update(quiet_from=(now - hour).time(), quiet_to=(now + hour).time())
    assert says("Your quiet hours last until")
    User.objects.filter(pk=alice.pk).update(vacation_until=now + hour)
    assert says("You are on vacation until")


def test_both_pages_say_that_mail_is_on_hold_and_no_test_mail_is_sent(
    table: Table, alice: User, as_alice: Client
) -> None:
    outbox.hold(why="restored", now=timezone.now())
    over(table, alice)
    outbox.deliver(clock=timezone.now)
    for path in ("/notices/", "/notices/settings/"):
        assert "All mail is on hold" in text_of(as_alice.get(path))
    assert preferences.HELD in text_of(as_alice.post("/notices/settings/works/", follow=True))
    assert mail.outbox == []


# Addresses that bounce


def test_mail_to_a_bounced_address_waits_until_it_works_again(table: Table, alice: User, as_alice: Client) -> None:
    out = io.StringIO()
    call_command("bounced", "alice@example.org", "nobody@example.org", stdout=out)
    assert out.getvalue().splitlines() == ["alice@example.org: 1 person", "nobody@example.org: 0 people"]
    over(table, alice)
    outbox.deliver(clock=timezone.now)
    assert mail.outbox == []
    assert "Emails to alice@example.org came back" in text_of(as_alice.get("/notices/settings/"))

    assert as_alice.post("/notices/settings/works/").status_code == 303
    (asking,) = deliver_now()
    (link,) = [link for link in links_in(parsed(asking.message().as_bytes())) if "/mail/works/" in link]
    path = link.removeprefix("http://127.0.0.1:8000")
    assert "it does" in text_of(Client().get(path))
    assert NoticeSettings.objects.get(user=alice).bounced
    assert "We will email alice@example.org again" in text_of(Client().post(path))
    outbox.deliver(clock=timezone.now)
    assert [message.subject for message in mail.outbox[1:]] == ["No Mercy with bob: Bob wins the round."]


def test_a_new_address_gets_waiting_mail_immediately(table: Table, alice: User) -> None:
    preferences.mark_bounced(address=alice.email, now=timezone.now())
    EmailAddress.objects.create(user=alice, email="new@example.org", primary=True, verified=True)
    over(table, alice)
    outbox.deliver(clock=timezone.now)

    assert [message.to for message in mail.outbox] == [["new@example.org"]]


@pytest.mark.long
def test_mail_to_a_bounced_address_is_dropped_after_two_weeks(table: Table, alice: User) -> None:
    preferences.mark_bounced(address=alice.email, now=timezone.now())
    start = timezone.now()
    over(table, alice)
    for day in range(16):
        outbox.deliver(clock=lambda day=day: start + timedelta(days=day, seconds=day))  # type: ignore[misc]

    row = Notice.objects.get(channel="email")
    assert (row.state, row.reason) == ("dropped", "bounced")
    assert row.since - start > timedelta(days=14)


def test_a_test_mail_waits_while_the_mail_server_is_away(alice: User, as_alice: Client) -> None:
    preferences.mark_bounced(address=alice.email, now=timezone.now())
    with override_settings(EMAIL_BACKEND="tests.support.mail.NoServer"):
        answer = as_alice.post("/notices/settings/works/", follow=True)
        assert "We’ve sent a test email" in text_of(answer)
        assert deliver_now() == []
    outbox.deliver(clock=lambda: timezone.now() + timedelta(minutes=1))
    assert [message.subject for message in mail.outbox] == ["Does this address work again?"]


def test_a_test_mail_needs_a_confirmed_address(alice: User, as_alice: Client) -> None:
    preferences.mark_bounced(address=alice.email, now=timezone.now())
    with override_settings(MAIL_NEEDS_VERIFIED=True):
        answer = as_alice.post("/notices/settings/works/", follow=True)
        assert preferences.UNCONFIRMED in text_of(answer)
        assert deliver_now() == []
        EmailAddress.objects.create(user=alice, email=alice.email, primary=True, verified=True)
        as_alice.post("/notices/settings/works/")
        assert [message.to for message in deliver_now()] == [[alice.email]]


@pytest.mark.long
def test_three_test_mails_can_be_sent_an_hour(alice: User, as_alice: Client) -> None:
    preferences.mark_bounced(address=alice.email, now=timezone.now())
    with override_settings(RATE_LIMITS=100):
        for _ in range(3):
            assert as_alice.post("/notices/settings/works/").status_code == 303
            deliver_now()
        refused = as_alice.post("/notices/settings/works/")
    assert refused.status_code == 429
    assert 3500 < int(refused.headers["Retry-After"]) <= 3600
    assert "Too many emails of this kind to this address. Try again in 60 minutes." in text_of(refused)
    assert len(deliver_now()) == 3
