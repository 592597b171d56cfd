"""Celery tasks. Their arguments are ids, and each calls one action."""

from __future__ import annotations

import random

from celery import shared_task
from django.utils import timezone

from accounts import actions as account_actions
from accounts import mails
from common.run_all import run_all
from games import asked_bots, randomness
from games.actions import abandoned, data_copies, deletion, housekeeping, names, pauses
from games.actions import bot_turn as bots_action
from games.actions import sweep as sweep_action
from games.clocks import quiet_hours
from games.notices import preferences, reminders
from games.staff import auto_reports
from mail import outbox


@shared_task(name="games.tasks.bot_turn", ignore_result=True)
def bot_turn(game_id: int) -> int:
    """Make some bot moves that are due, in this game and in others."""
    asked_bots.forget(game_id)  # first: what becomes due from now on needs another task
    rng = random.Random(randomness.source.getrandbits(64))  # noqa: S311  # the choices of bots need not be secret
    return bots_action.play_due_bots(game_id=game_id, clock=timezone.now, rng=rng)


@shared_task(name="games.tasks.sweep", ignore_result=True)
def sweep() -> None:
    """Let clocks act whose deadline has passed, and wake bots and deals that no task reached."""
    sweep_action.sweep(clock=timezone.now)


@shared_task(name="games.tasks.follow_time_off", ignore_result=True)
def follow_time_off(user_id: int, after: int = 0) -> int:
    """Adapt some of a person's deadlines to their quiet hours and vacation, and send a task for the rest."""
    return quiet_hours.follow_time_off(user_id=user_id, now=timezone.now(), after=after)


@shared_task(name="games.tasks.raise_revisions", ignore_result=True)
def raise_revisions(user_id: int, only_running: bool = False, after: int = 0) -> int:
    """Tell some of a person's open games that others see the person differently, and send a task for the rest."""
    return names.raise_revisions(user_id=user_id, only_running=only_running, after=after)


@shared_task(name="games.tasks.copy_data", ignore_result=True)
def copy_data() -> None:
    """Make one of the copies of their data that people have asked for."""
    data_copies.make_next(now=timezone.now())


@shared_task(name="games.tasks.notices", ignore_result=True)
def send_notices() -> None:
    """Write the reminders and digests that are due, and show or send the notices that are due."""
    run_all(
        reminders=lambda: reminders.remind(now=timezone.now()),
        digests=lambda: preferences.write_digests(now=timezone.now()),
        delivery=lambda: outbox.deliver(clock=timezone.now),
    )


@shared_task(name="games.tasks.housekeeping", ignore_result=True)
def tidy() -> None:
    """Close and delete abandoned games, end old pauses, delete old rows, and open cases that the site noticed."""
    run_all(
        old_pauses=lambda: pauses.end_old_pauses(now=timezone.now()),
        old_tables=lambda: housekeeping.close_old_tables(now=timezone.now()),
        left_games=lambda: abandoned.call_off_left_games(now=timezone.now()),
        unplayed_games=lambda: abandoned.delete_unplayed_games(now=timezone.now()),
        time_off=lambda: quiet_hours.follow_everybody(now=timezone.now()),
        guests=lambda: housekeeping.forget_guests(now=timezone.now()),
        waiting_copies=lambda: data_copies.wake_worker(now=timezone.now()),
        old_copies=lambda: data_copies.forget_old(now=timezone.now()),
        deletions=lambda: deletion.delete_due(now=timezone.now()),
        old_notices=lambda: preferences.forget_old(now=timezone.now()),
        held_names=lambda: account_actions.free_held_names(now=timezone.now()),
        old_account_mails=lambda: mails.forget_old(now=timezone.now()),
        browser_marks=lambda: auto_reports.forget_browser_marks(now=timezone.now()),
        cases=lambda: auto_reports.report_signs(now=timezone.now()),
    )
