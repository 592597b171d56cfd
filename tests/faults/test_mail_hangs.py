"""Test a mail server that accepts mail and never replies: clocks and bots of the production processes go on."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings as site
from django.utils import timezone

from accounts.models import User
from games.models import Game, Heartbeat, Notice
from games.notices import player_notices
from games.queries import Table
from nomercy.queues import MAIL, QUEUES
from tests.support import waiting
from tests.support.mail import MailServer, serve
from tests.support.stack import stack
from tests.support.tables import TWO_HANDS, table_at

pytestmark = [pytest.mark.nginx, pytest.mark.redis, pytest.mark.django_db(transaction=True), pytest.mark.long]

PATIENCE = 45.0
HOUR = timedelta(hours=1)


until = partial(waiting.until, patience=PATIENCE)


def tell_a_turn(user: User, other: User | str) -> Table:
    """Make a table where this user is on turn and a mail about that is due."""
    now = timezone.now()
    table = table_at(TWO_HANDS, [user, other], deadline=now + HOUR)
    player_notices.deal(table, now=now - HOUR)
    return table


def test_clocks_and_bots_do_not_wait_for_a_mail_server(alice: User, bob: User) -> None:
    for user in (alice, bob):
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    server = MailServer(hangs={alice.email, bob.email})
    controller = serve(server)
    settings = {
        "DJANGO_SETTINGS_MODULE": "tests.support.patient",  # the senders hang until this is over, however slow it is
        "EMAIL_URL": f"smtp://127.0.0.1:{controller.port}",
        "SWEEP_SECONDS": "1",
        "LOG_LEVEL": "ERROR",
        "WEB_CONCURRENCY": "1",  # it only shows that the stack is up
    }
    with stack(only=["web", "clock", "worker", "mail", "beat"], **settings):
        try:
            tables = []
            for n, user in enumerate((alice, bob)):  # one after the other, so that each gets its own sender
                tables.append(tell_a_turn(user, "careful"))
                until("the mail server asked", lambda n=n: len(server.left) > n)  # type: ignore[misc]
            assert len(server.left) == QUEUES[MAIL]  # every worker that could send hangs now

            Game.objects.update(deadline=timezone.now())
            for table in tables:  # the clock plays for the person, then the bot moves
                until("the bot's move", lambda pk=table.game.pk: Game.objects.get(pk=pk).version >= 2)  # type: ignore[misc]
            heartbeat = Heartbeat.objects.get()
            assert heartbeat.at is not None
            assert timezone.now() - heartbeat.at < timedelta(seconds=site.SWEEP_GRACE_SECONDS)
            assert Notice.objects.filter(channel="email", state="handed").count() == QUEUES[MAIL]
        finally:
            controller.stop()  # this also ends the waiting, before the stack stops
