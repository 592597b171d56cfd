"""Test senders that are killed (`kill -9`) at random moments: no notice makes two mails.

The long form is `MAIL_KILLS=50 script/test --all tests/faults/test_mail_kills.py -s`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import quote

import pytest
from aiosmtpd.smtp import Envelope
from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.models import User
from games.models import Notice
from games.notices import player_notices
from mail import outbox
from tests.conftest import Figure
from tests.support.mail import MailServer
from tests.support.tables import TWO_HANDS, table_at

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

KILLS = int(os.environ.get("MAIL_KILLS", "2"))
MAILS_A_KILL = 20
STALE_MINUTES = 6


@contextmanager
def sender(port: int, minutes: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a sender whose clock is this many minutes ahead, and tell it to begin."""
    at = connection.settings_dict
    host = quote(str(at["HOST"]), safe="")
    environment = os.environ | {
        "DATABASE_URL": f"postgres://{at['USER']}:{at['PASSWORD']}@{host}:{at['PORT']}/{at['NAME']}",
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        "EMAIL_URL": f"smtp://127.0.0.1:{port}",
        "LOG_LEVEL": "ERROR",
        "SECRET_KEY": "a key for tests, of no use to anybody else",
    }
    command = [sys.executable, "-m", "tests.support.sender", str(minutes)]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"ready\n"
        process.stdin.write(b"go\n")
        process.stdin.flush()
        yield process


def test_a_killed_sender_sends_no_second_mail(server: MailServer, alice: User, figure: Figure) -> None:
    seed = random.SystemRandom().getrandbits(32)
    rng = random.Random(seed)
    people = [User.objects.create_user(f"p{n:04}", f"p{n:04}@example.org") for n in range(KILLS * MAILS_A_KILL)]
    for user in people:
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
        game = table_at(TWO_HANDS, [user, alice], deadline=timezone.now() + timedelta(days=90))
        player_notices.deal(game, now=timezone.now())

    def answer(envelope: Envelope) -> str:
        time.sleep(rng.random() * 0.02)  # the server waits a little, so that kills hit every part of the dialogue
        return "250 OK"

    server.answer = answer
    minutes, kills, amid = STALE_MINUTES, 0, 0
    while kills < KILLS:
        with sender(settings.EMAIL_PORT, minutes) as process:
            before, until = len(server.taken), time.monotonic() + 60
            wanted = min(before + rng.randrange(MAILS_A_KILL), len(people))
            while len(server.taken) < wanted and process.poll() is None and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(rng.random() * 0.03)  # and then somewhere in the next mail
            process.kill()
        amid += before < len(server.taken) < len(people)
        kills, minutes = kills + 1, minutes + STALE_MINUTES
    for _ in range(2):  # first what the last sender had claimed, then the rest
        ahead = timedelta(minutes=minutes)
        outbox.deliver(clock=lambda ahead=ahead: timezone.now() + ahead)  # type: ignore[misc]  # a default to bind it
        minutes += STALE_MINUTES
    mails = Counter(mail["To"] for mail in server.mails)
    states = Counter(Notice.objects.filter(channel="email", user__in=people).values_list("state", "reason"))
    unsure = states[("failed", "unsure")]
    lost = len(people) - len(mails)
    twice = [who for who, count in mails.items() if count > 1]
    figure(
        f"\nseed {seed}: {kills} kills, {amid} of them amid mails, {len(people)} notices, {len(mails)} mails,"
        f" {len(twice)} twice, {unsure} unsure, of which {lost} did not arrive"
    )

    assert twice == []
    assert states[("sent", "")] + unsure == len(people)
    assert lost <= unsure <= kills
    assert amid > 0
