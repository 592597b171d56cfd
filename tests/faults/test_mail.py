"""Test mail that goes wrong: failing servers, senders that die, scanners that follow links.

Every mail goes over real SMTP to a server of the test. Figures are printed (`pytest -s`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from aiosmtpd.smtp import Envelope
from django.db import connection
from django.test import Client, override_settings

from accounts.models import User
from games.models import Notice, NoticeSettings
from games.notices import kinds, mail_links, notice_mails, player_notices, preferences, source
from games.queries import Table
from mail import outbox
from mail.channels import email
from mail.models import Outbox
from tests.conftest import Figure, logged_in, person
from tests.support.mail import MailServer, links_in, text_of
from tests.support.tables import NOON, TWO_HANDS, table_at
from tests.support.web import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.long]

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
DUE = NOON + 5 * MINUTE
WRITES = re.compile(r"^\s*(WITH\b.*)?(INSERT|UPDATE|DELETE|TRUNCATE)\b", re.IGNORECASE | re.DOTALL)


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return on_turn(alice, bob)


def on_turn(user: User, other: User) -> Table:
    """Return a table where it is this user's turn and the notice was written at noon."""
    found = table_at(TWO_HANDS, [user, other], deadline=NOON + 24 * HOUR)
    player_notices.deal(found, now=NOON)
    return found


def deliver(now: Any = DUE) -> None:
    outbox.deliver(clock=lambda: now)


def mail_states() -> Counter[str]:
    return Counter(Notice.objects.filter(channel="email").values_list("state", flat=True))


# Senders that die (see also test_account_mails.py)


def test_a_claim_that_was_taken_over_is_sent_once(server: MailServer, table: Table) -> None:
    claimed, _ = outbox.claim(email.EMAIL, source.SOURCE, now=DUE)
    assert email.EMAIL.deliver is not None
    late = email.EMAIL.compose(source.SOURCE, claimed, DUE)
    deliver(DUE + 6 * MINUTE)
    email.EMAIL.deliver(late, lambda: DUE + 7 * MINUTE, DUE + HOUR)

    assert len(server.mails) == 1
    assert mail_states() == {"sent": 1}


# Servers that fail


def test_a_failed_server_loses_nothing_and_the_backlog_is_sent_once_in_order(
    server: MailServer, alice: User, bob: User, figure: Figure
) -> None:
    people = [person(f"p{n:02}") for n in range(30)]
    for user in people:
        on_turn(user, alice)
    with override_settings(EMAIL_PORT=1):
        for minutes in range(5, 65):
            deliver(NOON + minutes * MINUTE)
    box = Outbox.objects.get()
    assert mail_states() == {"waiting": 30}
    assert set(Notice.objects.filter(channel="email").values_list("tries", flat=True)) == {0}
    assert box.retry_at is not None
    assert timedelta() < box.retry_at - (NOON + 64 * MINUTE) <= email.LONGEST_SERVER_WAIT
    assert box.failures <= 20  # the server was not tried in between

    deliver(box.retry_at)
    deliver(box.retry_at + HOUR)
    assert [mail["To"] for mail in server.mails] == [user.email for user in people]
    assert mail_states() == {"sent": 30}
    assert Outbox.objects.filter(retry_at=None, failures=0).exists()
    figure("an hour without a mail server: 30 mails waited, 30 went out once, in order, 0 lost")


@pytest.mark.parametrize("said", ["451 Try again later", "554 Not this one"])
def test_a_refused_mail_is_retried_as_the_same_mail(server: MailServer, table: Table, said: str) -> None:
    asked: list[Envelope] = []

    def answer(envelope: Envelope) -> str:
        asked.append(envelope)
        return said if len(asked) == 1 else "250 OK"

    server.answer = answer
    deliver()
    assert mail_states() == {"waiting": 1}
    deliver(DUE + MINUTE)
    ids = [re.findall(rb"Message-ID: (\S+)", envelope.original_content or b"") for envelope in asked]
    assert ids[0] == ids[1]
    assert len(server.mails) == 1


def test_a_broken_connection_loses_nothing(server: MailServer, alice: User, bob: User) -> None:
    on_turn(alice, bob)
    on_turn(bob, alice)
    broken: list[Envelope] = []

    def answer(envelope: Envelope) -> str:
        if broken:
            return "250 OK"
        broken.append(envelope)
        return "421 Going down"

    server.answer = answer
    for minutes in (5, 6, 12):
        deliver(NOON + minutes * MINUTE)

    assert Counter(mail["To"] for mail in server.mails) == {alice.email: 1, bob.email: 1}


@pytest.mark.django_db(transaction=True)
def test_many_senders_at_once_send_each_mail_once(server: MailServer, alice: User) -> None:
    people = [person(f"p{n:02}") for n in range(24)]
    for user in people:
        on_turn(user, alice)

    def work(wait: Callable[[], object]) -> None:
        wait()
        deliver()

    at_once([work] * 4)
    deliver(DUE + HOUR)

    assert Counter(mail["To"] for mail in server.mails) == {user.email: 1 for user in people}


# Links


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect every statement that is executed during the block."""
    asked: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield asked


def every_link(server: MailServer, table: Table, alice: User) -> list[str]:
    """Return the path of one link of each kind in mails."""
    deliver()
    (mail,) = server.mails
    preferences.mark_bounced(address=alice.email, now=NOON)
    works = notice_mails.readers_of({alice})[alice.pk]
    token = mail_links.link_url(mail_links.WORKS, user_id=alice.pk, target=alice.email, key=works.key)
    links = {link.removeprefix("http://127.0.0.1:8000") for link in [*links_in(mail), token]}
    return sorted(links)


@pytest.mark.parametrize("who", ["nobody", "alice", "bob"])
def test_a_scanner_that_opens_every_link_changes_nothing(
    server: MailServer, table: Table, alice: User, bob: User, who: str, figure: Figure
) -> None:
    links = every_link(server, table, alice)
    assert {link.split("/")[2] for link in links if link.startswith("/mail/")} == {"open", "stop", "works"}
    browser = {"nobody": Client(), "alice": logged_in(alice), "bob": logged_in(bob)}[who]
    with statements() as asked:
        for method in (browser.get, browser.head, browser.options):
            for link in links:
                method(link)

    assert [sql for sql in asked if WRITES.match(sql)] == []
    figure(f"{who}: {len(links)} links, GET, HEAD and OPTIONS, {len(asked)} statements, 0 writes")


def test_the_scan_for_writes_finds_one(alice: User) -> None:
    with statements() as asked:
        alice.save(update_fields=["email"])
        player_notices.invited(
            table_at(TWO_HANDS, [alice, "careful"]).game, [alice.pk], asker=User(pk=1, username="bob"), now=NOON
        )

    assert sum(bool(WRITES.match(sql)) for sql in asked) > 2


def one_click(link: str) -> Any:
    """Send what a mail program sends (RFC 8058): no cookies, no referrer, only the token in the URL."""
    return Client(enforce_csrf_checks=True).post(
        link, b"List-Unsubscribe=One-Click", content_type="application/x-www-form-urlencoded"
    )


def wants(user: User, kind: str) -> bool:
    return kinds.wants(NoticeSettings.objects.filter(user=user).first() or NoticeSettings(user=user), kind, "email")


def test_one_click_stops_mails_of_one_kind_only(server: MailServer, table: Table, alice: User) -> None:
    deliver()
    (mail,) = server.mails
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = mail["List-Unsubscribe"].strip("<>").removeprefix("http://127.0.0.1:8000")
    for _ in range(2):  # repeating it is no error and changes nothing
        answer = one_click(link)
        assert (answer.status_code, answer.cookies) == (200, {})

    assert not wants(alice, "turn")
    assert wants(alice, "deadline")
    assert f"http://127.0.0.1:8000{link}" in text_of(mail)


def test_all_mails_can_be_stopped_but_what_always_comes(alice: User) -> None:
    NoticeSettings.objects.create(user=alice, mail_key="key", digest_hour=7)
    url = mail_links.link_url(mail_links.STOP, user_id=alice.pk, target="turn", key="key")
    answer = Client().post(url.removeprefix("http://127.0.0.1:8000"), {"what": "everything"})
    assert "What staff decide about you still comes." in answer.content.decode()
    assert NoticeSettings.objects.get(user=alice).digest_hour is None
    assert [kind for kind in ("turn", "bot_took_over", "game_over", "warned") if wants(alice, kind)] == ["warned"]


def test_an_old_link_cannot_undo_a_later_choice(server: MailServer, table: Table, alice: User) -> None:
    deliver()
    link = server.mails[0]["List-Unsubscribe"].strip("<>").removeprefix("http://127.0.0.1:8000")
    one_click(link)
    preferences.choose(user=alice, choices={"turn.email": True}, digest_hour=None, now=DUE)

    answer = one_click(link)
    assert answer.status_code == 410
    assert "no longer works" in answer.content.decode()
    assert "or the site was restored from a backup" in answer.content.decode()
    assert wants(alice, "turn")


@pytest.mark.parametrize("purpose", [mail_links.OPEN, mail_links.STOP, mail_links.WORKS])
def test_a_forged_or_expired_link_is_refused_clearly(
    alice: User, purpose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    NoticeSettings.objects.create(user=alice, mail_key="key")
    good = mail_links.link_url(purpose, user_id=alice.pk, target="turn", key="key").removeprefix(
        "http://127.0.0.1:8000"
    )
    other = next(name for name in (mail_links.OPEN, mail_links.STOP) if name != purpose)
    path, token = good.rsplit("/", 2)[0], good.rsplit("/", 2)[1]
    elsewhere = mail_links.link_url(other, user_id=alice.pk, target="turn", key="key").rsplit("/", 2)[1]
    payload, stamp, signature = token.split(".")
    forged = [
        token[:-1], token[1:], f"{token}x", f"{payload}.{stamp}.{signature[::-1]}", f"x{payload}.{stamp}.{signature}",
        elsewhere, "x", "." * 5, "A" * 600,
    ]  # fmt: skip
    for bad in forged:
        for ask in (Client().get, one_click):
            answer = ask(f"{path}/{bad}/")
            refused = 403 if purpose == mail_links.OPEN and ask is one_click else 404
            assert (bad, answer.status_code) == (bad, refused)
    assert "This link is not valid" in Client().get(f"{path}/x/").content.decode()

    monkeypatch.setitem(mail_links.LIFETIMES, purpose, timedelta(seconds=-1))
    answer = Client().get(good)
    assert (answer.status_code, "no longer works" in answer.content.decode()) == (410, True)
    assert wants(alice, "turn")


def test_a_game_link_works_for_its_reader_only(server: MailServer, alice: User, bob: User, charlie: User) -> None:
    found = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 24 * HOUR, is_public=False)
    player_notices.deal(found, now=NOON)
    deliver()
    link = next(link for link in links_in(server.mails[0]) if "/mail/open/" in link)
    path = link.removeprefix("http://127.0.0.1:8000")
    game = f"/games/{found.game.code}/"

    assert logged_in(alice).get(path).headers["Location"] == game
    for browser, says in ((logged_in(charlie), "sent to alice"), (Client(), f"/accounts/login/?next={game}")):
        answer = browser.get(path)
        assert (answer.status_code, says in answer.content.decode()) == (200, True)
        assert browser.get(game).status_code == 404
