"""Test webhooks: what is posted, when, and what happens if it does not arrive."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.core.cache import cache
from django.test import Client, override_settings
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries, Settings

from accounts import tries
from accounts.actions import reencrypt_columns
from accounts.models import CountedTry, User
from common import limits
from common.encryption import decrypt
from games import presence, queries
from games.models import Notice
from games.notices import player_notices
from games.notices.inbox import entries_for
from games.queries import Table
from games.queries.my_data import data_of
from mail import hooks, outbox
from mail.channels.hook import AT_ONCE
from mail.hook_payloads import payload_of
from mail.models import Hook
from mail.sources import Message
from tests.conftest import logged_in
from tests.support.clocks import HOUR, MINUTE, move
from tests.support.codes import staff_browser
from tests.support.hooks import hook_of
from tests.support.notices import won
from tests.support.pages import Page, open_table, text_of
from tests.support.receiver import ALLOW, Receiver, receiving
from tests.support.tables import NOON, TWO_HANDS, table_at

pytestmark = pytest.mark.django_db

DUE = NOON + 5 * MINUTE


@pytest.fixture(autouse=True)
def local_hooks(settings: Settings) -> None:
    settings.OUTGOING_ALLOW = [ipaddress.ip_network(ALLOW)]
    cache.clear()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    """Return Alice's table, where it is her turn."""
    return table_at(TWO_HANDS, [alice, bob], deadline=NOON + 24 * HOUR, turn_since=NOON)


def deliver(now: datetime = DUE) -> None:
    outbox.deliver(clock=lambda: now)


def states(**which: Any) -> list[tuple[str, str]]:
    rows = Notice.objects.filter(channel="hook", **which).order_by("pk")
    return [(row.state, row.reason) for row in rows]


# What is posted


MESSAGE = Message(
    title="Your turn", body="No Mercy with B*b & @all <x>", url="https://cards.example.org/games/abc/", tag="t",
    deadline=datetime(2026, 11, 22, 12, 0, tzinfo=UTC), kind="turn", game="abc", version=7, person="Ann", waiting=1,
    language="en", urgent=False,
)  # fmt: skip


def posted(url: str, form: str = Hook.Form.AUTO, mention: str = "", message: Message = MESSAGE) -> Mapping[str, Any]:
    payload = payload_of(Hook(url=url, form=form, mention=mention), message)
    assert payload.headers == {"Content-Type": "application/json"}
    found: Mapping[str, Any] = json.loads(payload.body)
    return found


def test_discord_mentions_the_person_and_nobody_else() -> None:
    url = "https://discord.com/api/webhooks/1/x"
    assert posted(url) == {
        "content": r"Ann: Your turn · No Mercy with B\*b & @all \<x\> https://cards.example.org/games/abc/",
        "allowed_mentions": {"parse": [], "users": []},
    }
    mentioned = posted(url, mention="123")
    assert mentioned["content"].startswith("<@123>: Your turn")
    assert mentioned["allowed_mentions"] == {"parse": [], "users": ["123"]}
    assert posted("https://canary.discord.com/api/webhooks/1/x", mention="U1")["content"].startswith("Ann: ")


def test_slack_and_what_reads_the_same_mention_the_person_and_nobody_else() -> None:
    text = "Your turn · No Mercy with B*b &amp; @\N{WORD JOINER}all &lt;x&gt; https://cards.example.org/games/abc/"
    assert posted("https://hooks.slack.com/services/x") == {"text": f"Ann: {text}"}
    assert posted("https://hooks.slack.com/services/x", mention="U1") == {"text": f"<@U1>: {text}"}
    assert posted("https://chat.example.org/hooks/x", "slack", "ann") == {"text": f"@ann: {text}"}
    assert posted("https://chat.googleapis.com/v1/spaces/x") == {"text": f"Ann: {text}"}


def test_a_program_gets_json() -> None:
    assert posted("https://hooks.example.org/x", mention="123") == {
        "kind": "turn",
        "game": "abc",
        "url": "https://cards.example.org/games/abc/",
        "text": "Ann: Your turn · No Mercy with B*b & @all <x>",
        "deadline": "2026-11-22T12:00:00+00:00",
        "person": "Ann",
        "version": 7,
    }
    assert posted("https://discord.com.example.org/x", "json")["kind"] == "turn"


def test_ntfy_gets_text_with_headers_in_ascii() -> None:
    payload = payload_of(Hook(url="https://ntfy.sh/topic"), MESSAGE)
    assert payload.body.decode() == "Ann: Your turn · No Mercy with B*b & @all <x>"
    assert payload.headers["Click"] == MESSAGE.url
    assert payload.headers["Title"] == "Your turn"
    other = Message(**{**{name: getattr(MESSAGE, name) for name in MESSAGE.__slots__}, "title": "Zażółć"})
    assert payload_of(Hook(url="https://ntfy.sh/topic"), other).headers["Title"] == "=?utf-8?b?WmHFvMOzxYLEhw==?="


def test_a_message_about_another_mentions_nobody() -> None:
    other = Message(**{**{name: getattr(MESSAGE, name) for name in MESSAGE.__slots__}, "to_reader": False})
    found = posted("https://discord.com/api/webhooks/1/x", mention="123", message=other)
    assert found["content"].startswith("Ann: ")
    assert found["allowed_mentions"]["users"] == []


# When it is posted


def test_a_turn_is_posted_once_and_signed(table: Table, alice: User, receiver: Receiver) -> None:
    hook = hook_of(alice, receiver.url)
    player_notices.deal(table, now=NOON)
    deliver(DUE - MINUTE)
    assert receiver.requests == []
    deliver()
    deliver(DUE + HOUR)
    (request,) = receiver.requests
    content = json.loads(request.body)
    assert (content["kind"], content["person"], content["game"]) == ("turn", "alice", table.game.code)
    assert states() == [("sent", "")]
    key = base64.b64decode(decrypt(hook.secret).removeprefix("whsec_"))
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    signature = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert request.headers["webhook-signature"] == f"v1,{signature}"
    assert int(request.headers["webhook-timestamp"]) == int(DUE.timestamp())
    hook.refresh_from_db()
    assert (hook.ok_at, hook.failures) == (DUE, 0)


def test_nobody_without_a_hook_has_a_row(table: Table, alice: User) -> None:
    player_notices.deal(table, now=NOON)
    assert states() == []
    hook_of(alice)
    hooks.remove(user_id=alice.pk)
    move(table, alice, "play r5")
    assert states() == []


@pytest.mark.parametrize(("status", "wait"), [(204, 2 * HOUR), (500, 3 * MINUTE)])
def test_the_mail_of_a_turn_waits_after_a_post(
    table: Table, alice: User, receiver: Receiver, status: int, wait: timedelta
) -> None:
    hook_of(alice, receiver.url)
    receiver.status = status
    player_notices.deal(table, now=NOON)
    for at in (DUE, DUE + 3 * MINUTE, DUE + 2 * HOUR - MINUTE, DUE + 2 * HOUR):
        deliver(at)
        assert len(mail.outbox) == (at >= DUE + wait)


def test_a_held_site_posts_nothing(table: Table, as_alice: Client, alice: User, receiver: Receiver) -> None:
    hook_of(alice, receiver.url)
    player_notices.deal(table, now=NOON)
    outbox.hold(why="restored", now=NOON)
    deliver()
    assert "on hold" in Page(as_alice.post(f"{URL}test/", follow=True)).text
    assert (receiver.requests, states()) == ([], [("waiting", "")])


def test_a_site_that_sends_nothing_out_says_so(
    table: Table, alice: User, receiver: Receiver, settings: Settings
) -> None:
    settings.OUTGOING = False
    hook_of(alice, receiver.url)
    player_notices.deal(table, now=NOON)
    deliver()
    assert (receiver.requests, states()) == ([], [("dropped", "no_outgoing")])


def test_a_hook_that_was_removed_meanwhile_gets_nothing(table: Table, alice: User, receiver: Receiver) -> None:
    hook_of(alice, receiver.url)
    player_notices.deal(table, now=NOON)
    hooks.remove(user_id=alice.pk)
    deliver()
    assert (receiver.requests, states()) == ([], [("dropped", "no_hook")])


# What happens if it does not arrive


def test_a_message_is_tried_four_times_with_the_same_id(table: Table, alice: User, receiver: Receiver) -> None:
    hook_of(alice, receiver.url)
    receiver.status = 500
    player_notices.deal(table, now=NOON)
    at = DUE
    for tried, wait in enumerate((1, 5, 30), start=1):
        deliver(at)
        assert len(receiver.requests) == tried
        assert states() == [("waiting", "again")]
        deliver(at + wait * MINUTE - timedelta(seconds=1))
        assert len(receiver.requests) == tried
        at += wait * MINUTE
    deliver(at)
    assert states() == [("failed", "gave_up")]
    assert len(receiver.requests) == 4
    assert len({request.headers["webhook-id"] for request in receiver.requests}) == 1
    assert Hook.objects.get().last_error == "error_5xx"


def test_while_a_hook_fails_only_one_message_is_tried(table: Table, alice: User, receiver: Receiver) -> None:
    hook_of(alice, receiver.url)
    receiver.status = 404
    player_notices.deal(table, now=NOON)
    player_notices.write(table.game, [won(alice.pk, "Bob")], now=NOON)
    for _ in range(2):
        deliver()
        assert len(receiver.requests) == 1
    assert states() == [("waiting", "again")] * 2
    receiver.status = 200
    for sent in (1, 2):
        deliver(DUE + MINUTE)
        assert len(receiver.requests) == 1 + sent
    assert states() == [("sent", "")] * 2


def test_a_hook_that_fails_for_a_day_stops_and_tells_its_owner(table: Table, alice: User, receiver: Receiver) -> None:
    hook_of(alice, receiver.url, failures=8, failing_since=DUE - 24 * HOUR)
    receiver.status = 302
    player_notices.deal(table, now=NOON)
    deliver()
    assert Hook.objects.get().stopped_at is None
    deliver(DUE + 30 * MINUTE)
    hook = Hook.objects.get()
    alice.refresh_from_db()
    assert (hook.stopped_at, hook.failures, alice.has_hook) == (DUE + 30 * MINUTE, 10, False)
    assert states() == [("waiting", "again")]
    deliver(DUE + 2 * HOUR)
    assert states() == [("dropped", "hook_stopped")]
    said = "Your webhook at 127.0.0.1 has stopped after 10 failures. It answered with a redirect."
    assert said in mail.outbox[-1].body
    assert len(receiver.requests) == 2

    hooks.try_again(user_id=alice.pk)
    receiver.status = 200
    player_notices.write(table.game, [won(alice.pk, "Bob")], now=DUE + 3 * HOUR)
    deliver(DUE + 3 * HOUR)
    assert states(kind="game_over") == [("sent", "")]


def test_ten_failures_within_a_day_do_not_stop_a_hook(alice: User) -> None:
    hook = hook_of(alice)
    waits = [hooks.failed(hook, "silent", NOON + n * HOUR) - (NOON + n * HOUR) for n in range(11)]
    assert waits == [MINUTE, 5 * MINUTE, *[30 * MINUTE] * 9]
    hook.refresh_from_db()
    assert (hook.failures, hook.stopped_at) == (11, None)


@pytest.mark.long
def test_silent_hooks_hold_up_no_mail_and_share_a_short_time(table: Table, alice: User, bob: User) -> None:
    """Each post takes eight seconds of the clock, as one that nobody answers does."""
    people = [User.objects.create_user(f"person{n}") for n in range(12)]
    with receiving() as receiver:
        receiver.status = 503
        for person in people:
            hook_of(person, receiver.url)
        player_notices.write(table.game, [won(person.pk, "Bob") for person in people], now=NOON - MINUTE)
        player_notices.write(table.game, [won(bob.pk, "Bob")], now=NOON)
        now = NOON

        def clock() -> datetime:
            return now

        def wait() -> None:
            nonlocal now
            now += timedelta(seconds=8)

        receiver.before_answer = wait
        outbox.deliver(clock=clock)
        assert [sent.to for sent in mail.outbox] == [["bob@example.org"]]
        assert len(receiver.requests) <= 2 * AT_ONCE
        left = [reason for state, reason in states(state="waiting")]
        assert left.count("") == 12 - len(receiver.requests)


def test_a_hook_with_many_messages_holds_up_no_other(
    table: Table, alice: User, bob: User, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "BATCH", 3)
    now = NOON + HOUR

    def wait() -> None:
        nonlocal now
        now += timedelta(seconds=6)

    receiver.before_answer = wait
    hook_of(alice, receiver.url)
    hook_of(bob, f"{receiver.url}/bob")
    for occasion in range(4):
        player_notices.write(table.game, [won(alice.pk, "Bob")], now=NOON, occasion=occasion)
    player_notices.write(table.game, [won(bob.pk, "Bob")], now=NOON + MINUTE)
    outbox.deliver(clock=lambda: now)
    assert "/hook/bob" in [request.path for request in receiver.requests]


def test_hooks_that_fail_hold_up_no_other(
    table: Table, bob: User, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "BATCH", 3)
    failing = [User.objects.create_user(f"person{n}") for n in range(6)]
    for person in failing:
        hook_of(person, receiver.url, failures=3)
    hook_of(bob, f"{receiver.url}/bob")
    player_notices.write(table.game, [won(person.pk, "Bob") for person in failing], now=NOON)
    player_notices.write(table.game, [won(bob.pk, "Bob")], now=NOON + MINUTE)
    outbox.deliver(clock=lambda: DUE, most=1)
    assert "/hook/bob" in [request.path for request in receiver.requests]


# The turns of others


@pytest.fixture
def hosted(alice: User, bob: User, receiver: Receiver) -> Table:
    """Return Alice's table, where it is Bob's turn, and her hook hears of it."""
    hook_of(alice, receiver.url, others_since=NOON - timedelta(days=36500), mention="123", form="slack")
    return table_at({**TWO_HANDS, "turn": 1}, [alice, bob], deadline=NOON + 24 * HOUR, turn_since=NOON)


def test_the_hook_of_a_host_gets_the_turns_of_others(hosted: Table, alice: User, bob: User, receiver: Receiver) -> None:
    player_notices.deal(hosted, now=NOON)
    deliver()
    (request,) = receiver.requests
    assert json.loads(request.body)["text"].startswith("bob: Your turn · No Mercy with alice · 23 h left")
    assert [entry.first.user_id for person in (alice, bob) for entry in entries_for(person)] == [bob.pk]


def test_the_hook_of_a_host_gets_no_turns_of_others_unless_asked(
    hosted: Table, alice: User, receiver: Receiver
) -> None:
    later = hosted.game.created_at + MINUTE  # when nobody at this table has read of it
    for since in (None, later):
        Hook.objects.update(others_since=since)
        player_notices.deal(hosted, now=NOON)
        assert states() == []


def test_a_hook_that_has_stopped_gets_no_turns_of_others(hosted: Table, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(has_hook=False)
    read_since = queries.find(hosted.game.pk)
    assert read_since
    for table in (hosted, read_since):
        player_notices.deal(table, now=NOON)
        assert states() == []


def test_a_turn_takes_one_statement_if_the_host_has_no_hook(
    alice: User, bob: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, bob], deadline=NOON + 24 * HOUR, turn_since=NOON)
    with django_assert_num_queries(1):
        player_notices.deal(table, now=NOON)


def test_a_turn_of_another_is_not_posted_if_they_look_or_have_moved(
    hosted: Table, alice: User, bob: User, receiver: Receiver
) -> None:
    player_notices.deal(hosted, now=NOON)
    presence.mark_viewing(game_id=hosted.game.pk, user_id=bob.pk)
    deliver()
    assert states() == [("dropped", "looking")]
    cache.clear()
    Notice.objects.filter(channel="hook").update(state="waiting")
    move(hosted, bob, "play r4", at=NOON + MINUTE)
    deliver()
    assert states(kind="others_turn") == [("dropped", "moved_on")]


def test_a_turn_of_another_is_posted_once_if_they_were_on_turn_twice(
    hosted: Table, alice: User, bob: User, receiver: Receiver
) -> None:
    player_notices.deal(hosted, now=NOON)
    move(hosted, bob, "play r4", at=NOON + MINUTE)
    move(hosted, alice, "play r5", at=NOON + 2 * MINUTE)
    deliver(DUE)
    assert receiver.requests == []
    deliver(DUE + 2 * MINUTE)
    assert len(receiver.requests) == 1


def test_whoever_comes_to_the_table_reads_that_a_channel_hears_of_turns(alice: User, client: Client) -> None:
    table = open_table(alice)
    hook_of(alice, others_since=table.created_at)
    assert "alice’s channel hears of turns here." in text_of(client.get(table.get_absolute_url()))
    Hook.objects.update(others_since=table.created_at + MINUTE)
    assert "channel hears" not in text_of(client.get(table.get_absolute_url()))


# The page

URL = "/notices/settings/hook/"


def saved(browser: Client, **fields: str) -> Page:
    return Page(browser.post(URL, {"url": "", "form": "auto", "mention": "", **fields}))


def test_a_hook_is_added_changed_and_removed(as_alice: Client, alice: User, receiver: Receiver) -> None:
    page = saved(as_alice, url=receiver.url, mention="123", others="on")
    secret = page.one(id="new-secret").get("value", "")
    hook = Hook.objects.get()
    alice.refresh_from_db()
    assert (hook.user, hook.url, hook.mention) == (alice, receiver.url, "123")
    assert hook.others_since
    assert decrypt(hook.secret) == secret != hook.secret
    assert alice.has_hook
    page = Page(as_alice.get(URL))
    assert receiver.url not in page.html
    assert secret not in page.html
    assert "No notification has been posted there yet." in page.text

    as_alice.post(f"{URL}test/")
    assert json.loads(receiver.requests[0].body)["kind"] == "test"
    assert "The test message has arrived." in Page(as_alice.get(URL)).text
    renewed = Page(as_alice.post(f"{URL}secret/")).one(id="new-secret").get("value", "")
    assert renewed != secret
    saved(as_alice, form="json")
    hook.refresh_from_db()
    assert (hook.url, hook.form, hook.mention) == (receiver.url, "json", "")
    assert not Hook.objects.filter(others_since__isnull=False).exists()
    assert decrypt(hook.secret) == renewed

    as_alice.post(f"{URL}remove/")
    alice.refresh_from_db()
    assert (Hook.objects.exists(), alice.has_hook) == (False, False)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"url": "http://hooks.example.org/"}, "The address must begin with https://."),
        ({"url": "https://localhost/"}, "The address is in a private network."),
        ({"url": "https://10.0.0.1/"}, "The address needs the name of a host"),
        ({"url": "https://hooks.example.org:22/"}, "no other port than 443 and 8443"),
        ({"url": "https://a:b@hooks.example.org/"}, "Leave out the name and the password"),
        ({"url": "hooks.example.org"}, "This is not an address."),
        ({"url": "https://" + "a" * 2048}, "at most 2048 characters"),
        ({"url": ""}, "This field is required."),
        ({"url": "https://localhost/", "mention": "@here"}, "Use letters and digits only."),
        ({"url": "https://localhost/", "form": "xml"}, "not one of the available choices"),
    ],
)
def test_a_wrong_form_says_what_is_wrong(
    as_alice: Client, settings: Settings, fields: dict[str, str], why: str
) -> None:
    settings.OUTGOING_ALLOW = []
    page = saved(as_alice, **fields)
    assert page.status == 422
    assert why in page.text
    assert not Hook.objects.exists()


def test_a_test_tells_only_the_kind_of_a_failure(as_alice: Client, alice: User, receiver: Receiver) -> None:
    hook_of(alice, receiver.url)
    receiver.status = 418
    as_alice.post(f"{URL}test/")
    assert "It answered with an error from 400 to 499." in Page(as_alice.get(URL)).text
    assert Hook.objects.get().failures == 0


@override_settings(RATE_LIMITS=100)
@pytest.mark.parametrize("path", ["/notices/settings/hook/", "/notices/settings/hook/test/", "/notices/devices/"])
def test_nobody_holds_all_threads_by_hosts_that_do_not_answer(as_alice: Client, path: str) -> None:
    statuses = [as_alice.post(path).status_code for _ in range(7)]
    assert statuses.index(429) == 6


@override_settings(RATE_LIMITS=100)
def test_a_person_can_send_twenty_tests_a_day(as_alice: Client, alice: User, receiver: Receiver) -> None:
    hook_of(alice, receiver.url)
    CountedTry.objects.create(key=tries.Key.of(limits.HOOK_TESTS, alice.pk).text, count=19, until=timezone.now() + HOUR)
    assert [as_alice.post(f"{URL}test/").status_code for _ in range(2)] == [303, 429]
    assert len(receiver.requests) == 1


@override_settings(SECRET_KEY="another key of this site, after a restore", SECRET_KEY_FALLBACKS=[])
def test_an_unreadable_secret_is_told_and_holds_up_nobody(
    table: Table, as_alice: Client, alice: User, receiver: Receiver
) -> None:
    with override_settings(SECRET_KEY="the key with which the secret was encrypted"):
        hook_of(alice, receiver.url)
    player_notices.deal(table, now=NOON)
    deliver()
    assert (receiver.requests, states()) == ([], [("failed", "fault")])
    as_alice.force_login(alice)
    as_alice.post(f"{URL}test/")
    assert "Its secret cannot be read" in Page(as_alice.get(URL)).text


def test_the_secret_is_encrypted_again_with_a_new_key(alice: User) -> None:
    with override_settings(SECRET_KEY="the key with which the secret was encrypted"):
        secret = decrypt(hook_of(alice).secret)
        with override_settings(SECRET_KEY="a newer key", SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
            reencrypt_columns()
            with override_settings(SECRET_KEY_FALLBACKS=[]):
                assert decrypt(Hook.objects.get().secret) == secret
    with override_settings(SECRET_KEY="a key that decrypts nothing", SECRET_KEY_FALLBACKS=[]):
        assert f"the webhook of person {alice.pk}" in reencrypt_columns(drop_unreadable=True).unreadable
    alice.refresh_from_db()
    assert (Hook.objects.exists(), alice.has_hook) == (False, False)


def test_guests_have_no_hook(client: Client) -> None:
    guest = User.objects.create(username="guest", is_guest=True)
    browser = logged_in(guest)
    for url in (URL, f"{URL}test/", f"{URL}secret/", f"{URL}again/", f"{URL}remove/"):
        fields = {"url": "https://hooks.example.org/", "form": "auto", "others": "on"}
        assert browser.post(url, fields).status_code == 403
    assert not Hook.objects.exists()


def test_what_needs_a_hook_finds_none(as_alice: Client) -> None:
    found = [as_alice.post(f"{URL}{what}/").status_code for what in ("test", "secret", "again", "remove")]
    assert found == [404, 404, 404, 303]


def test_the_page_says_that_the_site_sends_nothing_out(as_alice: Client, settings: Settings) -> None:
    settings.OUTGOING = False
    page = Page(as_alice.get(URL))
    assert "there are no webhooks" in page.text
    assert not page.has(name="url")
    assert "This site sends nothing" in saved(as_alice, url="https://hooks.example.org/").text


def test_staff_see_the_host_and_the_state_of_a_hook_only(mo: User, alice: User) -> None:
    hook_of(alice, "https://hooks.example.org/T0P", stopped_at=NOON)
    page = Page(staff_browser(mo).get(f"/admin/accounts/user/{alice.pk}/change/"))
    assert "hooks.example.org, stopped since 2026-11-21 12:00" in page.text
    assert "T0P" not in page.html


def test_a_copy_of_ones_data_has_neither_address_nor_secret(alice: User) -> None:
    hook = hook_of(alice, "https://hooks.example.org/hidden")
    copy = json.dumps(data_of(alice), default=str)
    assert "hooks.example.org" in copy
    assert "hidden" not in copy
    assert hook.secret not in copy
