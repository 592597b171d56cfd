"""Test web push with a push service on this machine, which decrypts what it gets."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from ipaddress import ip_network
from typing import Any, Final

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from django.core import mail
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from pytest_django.fixtures import Settings

from accounts import actions as account_actions
from accounts import log_ins
from accounts.models import Session, User
from common import outgoing
from games import presence
from games.models import Game, Notice, NoticeSettings
from games.notices import devices, messages, player_notices, reminders
from games.notices.kinds import KINDS
from games.queries import Table, backlog
from games.rules import EVENTS
from mail import claims, outbox, site_keys, web_push
from mail.channels.push import MOST_REFUSALS, payload, wait_asked
from mail.models import PushSubscription
from mail.sources import Message
from tests.conftest import logged_in
from tests.support.clocks import HOUR, MINUTE, SECOND, move, start_vacation
from tests.support.notices import won
from tests.support.pages import text_of
from tests.support.ports import free_port
from tests.support.push import Phone, set_up
from tests.support.receiver import ALLOW, Receiver, receiving
from tests.support.tables import NOON, TWO_HANDS, table_at
from tests.support.web import at_once

pytestmark = pytest.mark.django_db

DUE: Final = NOON + 2 * MINUTE
MAIL_DUE: Final = NOON + 5 * MINUTE
SETTINGS: Final = "/notices/settings/"
FORM: Final = {"public": urlsafe_base64_encode(web_push.public_bytes(web_push.new_key())), "auth": "A" * 22}
ENDPOINT: Final = "http://127.0.0.1/device"


@pytest.fixture(autouse=True)
def nobody_looks(settings: Settings) -> None:
    cache.clear()
    settings.OUTGOING_ALLOW = [ip_network(ALLOW)]


@pytest.fixture
def service() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def phone(alice: User, service: Receiver) -> Phone:
    return set_up(alice, service.url)


@pytest.fixture
def table(phone: Phone, alice: User, bob: User) -> Table:
    """Return a table where it is the turn of Alice, who has a phone, and the notices of the turn are written."""
    return turn_of(alice, bob)


def turn_of(one: User, other: User, **fields: Any) -> Table:
    found = table_at(TWO_HANDS, [one, other], **{"deadline": NOON + 24 * HOUR, **fields})
    player_notices.deal(found, now=NOON)
    return found


def deliver(now: Any = DUE) -> None:
    outbox.deliver(clock=lambda: now)


def state(channel: str = "push") -> tuple[str, str]:
    row = Notice.objects.get(channel=channel)
    return row.state, row.reason


def test_a_message_is_encrypted_as_in_the_example_of_rfc_8291() -> None:
    browser = web_push.read_browser(
        "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
    )
    sender = web_push.key_from_text("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    salt = urlsafe_base64_decode("DGv6ra1nlYgDCS1FRnbzlw")
    body = web_push.encrypted(b"When I grow up, I want to be a watermelon", browser, sender=sender, salt=salt)
    assert urlsafe_base64_encode(body) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3"
        "jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    reader = web_push.key_from_text("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")
    phone = Phone(reader, browser.auth)
    assert phone.read(body) == b"When I grow up, I want to be a watermelon"


def test_a_turn_is_one_request_that_names_no_card(table: Table, phone: Phone, service: Receiver) -> None:
    deliver(DUE - SECOND)
    assert service.requests == []
    for minutes in range(3):
        deliver(DUE + minutes * MINUTE)
    (sent,) = service.requests
    code = table.game.code
    told = phone.told(sent)
    tag = messages.tag_of(f"{table.game.pk} turn")
    assert told == {
        "web_push": 8030,
        "notification": {
            "title": "Your turn",
            "body": "No Mercy with bob · 23 h left",
            "navigate": f"http://127.0.0.1:8000/games/{code}/",
            "tag": tag,
            "renotify": True,
            "lang": "en",
        },
        "app_badge": 1,
    }
    assert code not in sent.path
    assert {name: sent.headers[name] for name in ("TTL", "Urgency", "Topic", "Content-Encoding")} == {
        "TTL": str(24 * 3600 - 120), "Urgency": "normal", "Topic": tag, "Content-Encoding": "aes128gcm",
    }  # fmt: skip
    assert state() == ("sent", "")


def test_the_push_service_knows_the_site_by_its_key(table: Table, service: Receiver) -> None:
    deliver()
    token, key = service.requests[0].headers["Authorization"].removeprefix("vapid t=").split(", k=")
    assert key == site_keys.public()
    public = EllipticCurvePublicKey.from_encoded_point(web_push.CURVE, urlsafe_base64_decode(key))
    options: Any = {"verify_exp": False}  # the clock of the test is another
    claims_of = jwt.decode(token, public, ["ES256"], audience=service.url.removesuffix("/hook"), options=options)
    assert claims_of["exp"] - DUE.timestamp() == 12 * 3600
    assert claims_of["sub"] == "http://127.0.0.1:8000"


def test_a_reminder_is_urgent_and_replaces_the_turn(table: Table, phone: Phone, service: Receiver) -> None:
    Game.objects.filter(pk=table.game.pk).update(remind_at=NOON + 23 * HOUR)
    deliver()
    reminders.remind(now=NOON + 23 * HOUR)
    deliver(NOON + 23 * HOUR)
    turn, reminder = service.requests
    assert phone.told(reminder)["notification"]["title"] == "Your time is running out"
    assert (reminder.headers["Urgency"], reminder.headers["TTL"]) == ("high", "3600")
    assert reminder.headers["Topic"] == turn.headers["Topic"]


GONE, AGAIN, REFUSED = ("dropped", "no_device"), ("waiting", "again"), ("failed", "gave_up")
IN_TEN_MINUTES: Final = format_datetime(DUE + 10 * MINUTE, usegmt=True)


@pytest.mark.parametrize(
    ("status", "headers", "left", "after", "wait"),
    [
        (200, {}, True, ("sent", ""), 0),
        (404, {}, False, GONE, 0),
        (410, {}, False, GONE, 0),
        (429, {"Retry-After": "300"}, True, AGAIN, 5),
        (429, {"Retry-After": IN_TEN_MINUTES}, True, AGAIN, 10),
        (429, {"Retry-After": "soon"}, True, AGAIN, 1),
        (503, {}, True, AGAIN, 1),
        (301, {"Location": "http://127.0.0.1/"}, True, REFUSED, 0),
        (400, {}, True, REFUSED, 0),
        (401, {}, True, REFUSED, 0),
        (403, {}, True, REFUSED, 0),
        (413, {}, True, REFUSED, 0),
    ],
)
def test_what_becomes_of_a_notice_and_its_device(
    table: Table,
    alice: User,
    service: Receiver,
    status: int,
    headers: dict[str, str],
    left: bool,
    after: tuple[str, str],
    wait: int,
) -> None:
    service.answers["/hook"] = status, headers
    deliver()
    assert state() == after
    assert PushSubscription.objects.exists() == left
    alice.refresh_from_db()
    assert alice.has_push == left
    if wait:
        assert Notice.objects.get(channel="push").due_at == DUE + wait * MINUTE
    assert len(service.requests) == 1


def test_a_notice_is_tried_three_times_more(table: Table, service: Receiver) -> None:
    service.answers["/hook"] = 500, {}
    for minutes in (0, 1, 5, 6, 20, 21, 36, 60):
        deliver(DUE + minutes * MINUTE)
    assert len(service.requests) == 4
    assert state() == REFUSED


def test_a_device_that_is_refused_five_times_is_deleted(
    phone: Phone, alice: User, bob: User, service: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    service.answers["/hook"] = 403, {}
    for number in range(MOST_REFUSALS):
        assert PushSubscription.objects.get().refusals == number
        turn_of(alice, bob)
        deliver()
    assert not PushSubscription.objects.exists()
    (said,) = [record.getMessage() for record in caplog.records if "push refused" in record.getMessage()]
    assert "127.0.0.1" in said
    assert "/hook" not in said


def test_of_several_devices_none_is_notified_twice(phone: Phone, table: Table, alice: User, service: Receiver) -> None:
    second, third = set_up(alice, f"{service.url}/2", hides_names=True), set_up(alice, f"{service.url}/3")
    service.answers["/hook/3"] = 503, {}
    for minutes in (0, 1, 30):
        deliver(DUE + minutes * MINUTE)
    told = {sent.path: sent for sent in service.requests}
    assert sorted(sent.path for sent in service.requests) == ["/hook", "/hook/2", "/hook/3"]
    assert phone.told(told["/hook"])["notification"]["body"] == third.told(told["/hook/3"])["notification"]["body"]
    hidden = second.told(told["/hook/2"])["notification"]
    assert (hidden["title"], hidden["body"]) == ("A game waits for you", "")
    assert state() == ("sent", "")


def test_a_sender_that_dies_before_the_answer_sends_no_second_one(
    table: Table, service: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = outgoing.post

    def die(*arguments: Any) -> Any:
        post(*arguments)
        raise SystemExit

    monkeypatch.setattr(outgoing, "post", die)
    with pytest.raises(SystemExit):
        deliver()
    monkeypatch.undo()
    deliver(DUE + claims.STALE)
    deliver(DUE + claims.STALE + SECOND)
    assert (len(service.requests), state()) == (1, ("failed", "unsure"))


def looks(table: Table, alice: User) -> None:
    presence.mark_viewing(game_id=table.game.pk, user_id=alice.pk)


def rests(table: Table, alice: User) -> None:
    start_vacation(user=alice, days=3, now=NOON)


def sleeps(table: Table, alice: User) -> None:
    NoticeSettings.objects.get_or_create(user=alice)
    User.objects.filter(pk=alice.pk).update(quiet_from="10:00", quiet_to="18:00", time_zone="UTC")


def is_held(table: Table, alice: User) -> None:
    outbox.hold(why="restored", now=NOON)


def has_moved(table: Table, alice: User) -> None:
    move(table, alice, "play r5")


def is_suspended(table: Table, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(suspended_until=NOON + 9 * HOUR)


def test_a_push_wakes_nobody_though_the_turn_ends_soon_after_the_quiet_hours(
    table: Table, alice: User, service: Receiver
) -> None:
    sleeps(table, alice)
    Game.objects.filter(pk=table.game.pk).update(deadline=NOON + 6 * HOUR + 30 * MINUTE)
    deliver(MAIL_DUE)
    assert (service.requests, state(), state("email")) == ([], ("waiting", "night"), ("sent", ""))
    deliver(NOON + 6 * HOUR)
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (looks, ("dropped", "looking")),
        (rests, ("waiting", "vacation")),
        (sleeps, ("waiting", "night")),
        (is_held, ("waiting", "")),
        (has_moved, ("dropped", "moved")),
        (is_suspended, ("dropped", "closed")),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_push_is_judged_like_a_mail(
    table: Table, alice: User, service: Receiver, change: Callable[[Table, User], None], after: tuple[str, str]
) -> None:
    change(table, alice)
    deliver()
    assert service.requests == []
    row = Notice.objects.get(channel="push", user=alice)
    assert (row.state, row.reason) == after


@pytest.mark.parametrize(
    ("fields", "columns", "mails_at"),
    [
        ({}, {}, DUE + 2 * HOUR),
        ({"deadline": NOON + 150 * MINUTE}, {}, MAIL_DUE),
        ({"deadline": None}, {}, DUE + 2 * HOUR),
        ({}, {"mail_too": True}, MAIL_DUE),
    ],
    ids=["waits", "time ends soon", "no deadline", "wants both"],
)
def test_the_mail_of_a_turn_waits_after_a_push(
    phone: Phone, alice: User, bob: User, fields: dict[str, Any], columns: dict[str, Any], mails_at: Any
) -> None:
    PushSubscription.objects.update(**columns)
    turn_of(alice, bob, **fields)
    deliver()
    for at in (MAIL_DUE, DUE + 2 * HOUR - SECOND, DUE + 2 * HOUR):
        deliver(at)
        assert bool(mail.outbox) == (at >= mails_at)
        assert state("email") == (("sent", "") if at >= mails_at else ("waiting", "pushed"))


def test_the_mail_of_a_turn_waits_for_a_push_that_is_due_at_the_same_moment(
    table: Table, alice: User, service: Receiver
) -> None:
    sleeps(table, alice)
    deliver(MAIL_DUE)
    morning = NOON + 6 * HOUR
    for at in (morning, morning + 3 * MINUTE, morning + 2 * HOUR - SECOND):
        deliver(at)
        assert (len(service.requests), len(mail.outbox)) == (1, 0)
    deliver(morning + 2 * HOUR)
    assert len(mail.outbox) == 1


def test_no_mail_takes_a_turn_along_that_a_device_is_about_to_hear_of(
    table: Table, alice: User, bob: User, service: Receiver
) -> None:
    deliver()
    second = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 24 * HOUR)
    player_notices.deal(second, now=DUE + 2 * HOUR - MINUTE)
    for minutes in range(3):
        deliver(DUE + 2 * HOUR + minutes * MINUTE)
    assert len(service.requests) == 2
    assert [Notice.objects.get(channel="email", game=one.game).state for one in (table, second)] == ["sent", "waiting"]


def test_the_mail_comes_soon_after_the_night_if_no_device_took_the_push(
    table: Table, alice: User, service: Receiver
) -> None:
    service.answers["/hook"] = 503, {}
    sleeps(table, alice)
    deliver(MAIL_DUE)
    for minutes in range(4):
        deliver(NOON + 6 * HOUR + minutes * MINUTE)
    assert state("email") == ("sent", "")


@pytest.mark.parametrize(
    ("turn", "urgent", "title"),
    [(True, False, "A game waits for you"), (True, True, "Hurry"), (False, False, "There is news for you")],
)
def test_a_device_that_hides_names_says_that_a_game_waits_only_if_one_does(
    alice: User, turn: bool, urgent: bool, title: str
) -> None:
    about = replace(messages.test_message(alice), title="Hurry", body="bob", game="abc", turn=turn, urgent=urgent)
    shown = json.loads(payload(about, hides_names=True))["notification"]
    assert (shown["title"], shown["body"]) == (title, "")


def test_after_a_device_is_gone_the_mail_comes_at_once(table: Table, alice: User, service: Receiver) -> None:
    service.answers["/hook"] = 410, {}
    deliver()
    deliver(MAIL_DUE)
    assert state("email") == ("sent", "")


def test_guests_are_notified(service: Receiver, bob: User) -> None:
    guest = account_actions.create_guest()
    phone = set_up(guest, service.url)
    turn_of(guest, bob)
    deliver()
    assert phone.told(service.requests[0])["notification"]["title"] == "Your turn"


def test_no_device_shows_what_people_wrote_or_a_card(alice: User, table: Table) -> None:
    player_notices.write(table.game, [won(alice.pk, "Bob")], now=NOON)
    rows = Notice.objects.filter(channel="push", user=alice).select_related("user")
    said = {row.kind: message for row, message in messages.compose(list(rows), NOON)}
    assert said.keys() == {"turn", "game_over"}
    assert said["game_over"] is not None
    assert said["game_over"].body == "Bob wins the round."
    for kind in KINDS.values():
        if re.search(r"{(answer|reason|words)}", " ".join(kind.sentences.values())):
            assert not kind.goes_by("push"), kind.name
    for event in ("caught", "knocked_out", "won"):  # those that notices tell
        assert not {"card", "cards"} & {*EVENTS[event].public, *EVENTS[event].private}


def test_a_long_message_stays_short() -> None:
    long = Message(
        "ф" * 500, "ы" * 500, "https://x/", "t", None, "turn", "g", 1, "p", urgent=False, waiting=3, language="uk"
    )
    assert len(payload(long, hides_names=False)) < 1024


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, 0), ("-3", 0), ("9" * 30, 86400), ("7", 7), ("ä", 0), (f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT", 0)],
)
def test_a_wait_that_is_asked_for_has_a_limit(header: str | None, seconds: int) -> None:
    assert wait_asked(header, NOON) == timedelta(seconds=seconds)


def test_dead_devices_delay_no_mail_and_are_not_all_asked(alice: User, bob: User, settings: Settings) -> None:
    for number in range(10):
        set_up(alice, f"http://127.0.0.1:{free_port()}/{number}")
        turn_of(alice, bob)
    deliver(MAIL_DUE)
    assert Notice.objects.filter(channel="email", state="sent").count() == 10
    assert set(Notice.objects.filter(channel="push").values_list("state", "reason")) == {AGAIN}


def test_the_key_of_the_site_outlives_that_of_its_encryption(
    table: Table, service: Receiver, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    key, old = site_keys.public(), settings.SECRET_KEY
    settings.SECRET_KEY = "n" * 50
    deliver()
    assert (service.requests, state()) == ([], ("waiting", ""))
    assert "push is off" in caplog.text
    settings.SECRET_KEY_FALLBACKS = [old]
    call_command("reencrypt_factors", stdout=(printed := io.StringIO()))
    assert "1 other secret encrypted with SECRET_KEY." in printed.getvalue()
    settings.SECRET_KEY_FALLBACKS = []
    deliver(DUE + MINUTE)
    assert service.requests[0].headers["Authorization"].endswith(key)
    settings.SECRET_KEY = "o" * 50
    with pytest.raises(CommandError, match="No key decrypts the key for push services"):
        call_command("reencrypt_factors", stdout=printed)
    call_command("reencrypt_factors", drop_unreadable=True, stdout=printed)
    assert site_keys.public() != key


def test_a_push_service_that_is_away_is_no_fault_of_the_site(table: Table) -> None:
    Notice.objects.exclude(channel="push").delete()
    assert not backlog.mail_is_late(NOON + HOUR)
    assert backlog.backlog(NOON + HOUR, grace=MINUTE).notices.count == 0


# How a device ends


def ends_elsewhere(browser: Client, user: User) -> None:
    log_ins.end_all(user_id=user.pk)


def logs_out(browser: Client, user: User) -> None:
    browser.post("/accounts/logout/")


def is_ended(browser: Client, user: User) -> None:
    session = Session.objects.get(session_key=browser.session.session_key)
    assert log_ins.end(user_id=user.pk, handle=session.handle, here="")


def expires(browser: Client, user: User) -> None:
    Session.objects.update(expire_date=timezone.now() - SECOND)
    account_actions.clear_expired_sessions(now=timezone.now())


def asks_for_deletion(browser: Client, user: User) -> None:
    account_actions.ask_for_deletion(user=user, now=timezone.now())


@pytest.mark.parametrize(
    "end", [ends_elsewhere, logs_out, is_ended, expires, asks_for_deletion], ids=lambda end: end.__name__
)
def test_a_device_ends_with_its_session(
    alice: User, bob: User, service: Receiver, end: Callable[[Client, User], None]
) -> None:
    browser = logged_in(alice)
    add(browser, endpoint=service.url)
    turn_of(alice, bob)
    end(browser, alice)
    deliver()
    assert not PushSubscription.objects.exists()
    assert (service.requests, state()) == ([], GONE)


def test_push_that_reaches_nobody_any_more_is_not_written(
    table: Table, alice: User, bob: User, django_capture_on_commit_callbacks: Any
) -> None:
    Session.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        deliver()
    assert state() == GONE
    turn_of(alice, bob)
    assert Notice.objects.filter(channel="push").count() == 1


def test_a_session_with_a_new_key_keeps_its_device(alice: User) -> None:
    browser = logged_in(alice)
    add(browser)
    for renew in ("renew_key", "cycle_key"):
        session = browser.session
        getattr(session, renew)()
        session.save()
        assert PushSubscription.objects.get().session_id == session.session_key
        browser.cookies["session"] = session.session_key


# The page of settings


def add(browser: Client, **fields: str) -> Any:
    return browser.post("/notices/devices/", {"endpoint": ENDPOINT, **FORM, **fields})


def test_a_device_is_added_tested_changed_and_removed(alice: User, service: Receiver) -> None:
    browser, phone = logged_in(alice), Phone()
    public = urlsafe_base64_encode(web_push.public_bytes(phone.key))
    auth = urlsafe_base64_encode(phone.auth)
    assert "Send a test" not in text_of(browser.get(SETTINGS))
    for _ in range(2):  # sent twice
        answer = add(browser, endpoint=service.url, public=public, auth=auth)
        assert answer.headers["Location"] == SETTINGS
    device = PushSubscription.objects.get()
    page = text_of(browser.get(SETTINGS))
    assert "this browser" in page
    assert "Set up this device again" in page
    address = f"/notices/devices/{device.pk}/"
    browser.post(address, {"hides_names": "on"})
    add(browser, endpoint=f"{service.url}/new", public=public, auth=auth)  # the browser has subscribed again
    address = f"/notices/devices/{PushSubscription.objects.get().pk}/"
    browser.post(f"{address}test/")
    set_up(alice, f"{service.url}/other")
    deliver(timezone.now() + SECOND)
    (sent,) = service.requests
    assert phone.told(sent)["notification"]["title"] == "There is news for you"
    assert "Notifications reach this device" in text_of(browser.get("/notices/"))
    for _ in range(2):
        assert browser.post(f"{address}remove/").status_code == 303
    assert PushSubscription.objects.count() == 1
    assert browser.post(f"{address}test/").status_code == browser.post(address).status_code == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"endpoint": ""},
        {"endpoint": "http://push.example/1"},
        {"endpoint": "https://10.0.0.1/1"},
        {"endpoint": "http://127.0.0.1/" + "x" * 2048},
        {"public": ""},
        {"public": "ä"},
        {"public": "A" * 87},
        {"public": FORM["public"][:-4]},
        {"auth": "A" * 21},
        {"auth": "A" * 24},
    ],
)
def test_what_is_no_subscription_is_refused(alice: User, fields: dict[str, str]) -> None:
    answer = add(logged_in(alice), **fields)
    assert answer.status_code == 400
    assert "This browser sent something we can’t use." in text_of(answer)
    assert not PushSubscription.objects.exists()


def test_a_shared_browser_is_of_the_one_who_logged_in_last(alice: User, bob: User) -> None:
    add(logged_in(alice))
    add(logged_in(bob))
    assert PushSubscription.objects.get().user == bob
    assert [User.objects.get(pk=user.pk).has_push for user in (alice, bob)] == [False, True]


def test_people_who_take_each_other_s_browsers_at_once_both_get_them(
    transactional_db: None, alice: User, bob: User
) -> None:
    people = {user: str(logged_in(user).session.session_key) for user in (alice, bob)}
    endpoints = ["http://127.0.0.1/1", "http://127.0.0.1/2"]

    def adds(user: User, endpoint: str) -> Callable[[Callable[[], object]], str]:
        def add_at_once(wait: Callable[[], object]) -> str:
            wait()
            return devices.add(user=user, session=people[user], endpoint=endpoint, **FORM, label="", now=NOON)

        return add_at_once

    for _ in range(10):
        at_once([adds(user, endpoint) for user, endpoint in zip(people, endpoints, strict=True)])
        assert list(PushSubscription.objects.order_by("user").values_list("endpoint", flat=True)) == endpoints
        assert set(User.objects.values_list("has_push", flat=True)) == {True}
        endpoints.reverse()


def test_the_eleventh_device_replaces_the_one_reached_longest_ago(alice: User) -> None:
    now = timezone.now()
    for number in range(devices.MOST):
        set_up(alice, f"https://push.example/{number}", label=f"Phone {number}", ok_at=now - (number == 7) * HOUR)
    browser = logged_in(alice)
    add(browser)
    assert "You can have 10 devices, so Phone 7 was removed." in text_of(browser.get(SETTINGS))
    assert PushSubscription.objects.filter(user=alice).count() == devices.MOST


def test_nobody_touches_the_device_of_somebody_else(alice: User, bob: User) -> None:
    set_up(alice)
    before = PushSubscription.objects.values().get()
    address = f"/notices/devices/{before['id']}/"
    browser = logged_in(bob)
    assert (
        browser.post(address, {"hides_names": "on"}).status_code == browser.post(f"{address}test/").status_code == 404
    )
    browser.post(f"{address}remove/")
    assert PushSubscription.objects.values().get() == before
    assert not Notice.objects.exists()


def test_a_session_that_has_just_ended_gets_no_device(alice: User) -> None:
    session = str(logged_in(alice).session.session_key)
    Session.objects.all().delete()
    with pytest.raises(Exception, match="logged out here"):
        devices.add(user=alice, session=session, endpoint=ENDPOINT, **FORM, label="", now=NOON)


def test_where_nothing_may_go_out_pages_say_so(table: Table, alice: User, settings: Settings) -> None:
    settings.OUTGOING = False
    browser = logged_in(alice)
    assert "have turned notifications on devices off" in text_of(browser.get(SETTINGS))
    assert add(browser).status_code == 400
    deliver()
    assert state() == ("dropped", "no_outgoing")
    assert PushSubscription.objects.exists()


def test_it_is_offered_from_the_second_game_on_until_declined(alice: User, bob: User, settings: Settings) -> None:
    settings.HTTPS = True
    browser, offer = logged_in(alice), "This device can tell you when it is your turn."
    turn_of(alice, bob)
    assert offer not in text_of(browser.get("/"))
    turn_of(alice, bob)
    assert offer in text_of(browser.get("/"))
    browser.post("/notices/devices/decline/")
    assert offer not in text_of(browser.get("/"))
