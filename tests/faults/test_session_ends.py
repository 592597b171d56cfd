"""Test that logging out or changing the password closes a person's sockets.

It has its own stack, where no process that carries the event has just been killed (unlike tests/faults/test_away.py).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from accounts.models import User
from nomercy import settings as site_settings
from tests.conftest import Figure, logged_in
from tests.faults.test_away import (
    a_table_with_a_bot,
    frames_until_closed,
    on_the_stack,
    open_socket,
    post,
    running,
)
from tests.support.codes import confirmed_browser
from tests.support.stack import RunningStack

__all__ = ["on_the_stack", "running"]  # the fixtures of that module

BY_EVENT = 5.0

pytestmark = [pytest.mark.redis, pytest.mark.django_db(transaction=True), pytest.mark.long]


def log_out(running: RunningStack, browser: Client, elsewhere: Client) -> None:
    assert post(running, "/accounts/logout/", browser)[0] == 302


def change_password(running: RunningStack, browser: Client, elsewhere: Client) -> None:
    form = {"oldpassword": "alice", "password1": "quite another 1", "password2": "quite another 1"}
    assert post(running, "/accounts/password/change/", browser, **form)[0] == 302


def log_out_elsewhere(running: RunningStack, browser: Client, elsewhere: Client) -> None:
    assert post(running, "/accounts/me/sessions/", elsewhere, end="others")[0] == 303


@pytest.mark.parametrize("ending", [log_out, log_out_elsewhere, change_password])
def test_a_socket_is_closed_within_seconds_when_its_session_ends(
    running: RunningStack,
    alice: User,
    bob: User,
    ending: Callable[[RunningStack, Client, Client], None],
    settings: Settings,
    figure: Figure,
) -> None:
    settings.PASSWORD_HASHERS = site_settings.PASSWORD_HASHERS  # the stack has no other accounts
    alice.set_password("alice")
    alice.save(update_fields=["password"])
    game = a_table_with_a_bot(alice)
    mine, elsewhere, other = logged_in(alice), confirmed_browser(alice), logged_in(bob)

    async def scenario() -> float:
        async with (
            await open_socket(running, game, mine) as socket,
            await open_socket(running, game, other) as bystander,
        ):
            await asyncio.to_thread(ending, running, mine, elsewhere)
            started = time.monotonic()
            frames = await frames_until_closed(socket)
            assert frames <= 1  # one message may have been on its way
            assert socket.close_code == 4401
            assert bystander.close_code is None
            return time.monotonic() - started

    seconds = asyncio.run(scenario())
    figure(f"closed after {seconds:.2f} s")
    assert seconds < BY_EVENT
