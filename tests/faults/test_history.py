"""Test the checker of histories: it finds and names each fault that is made on purpose.

A history is played in this process by the write path itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import pytest
from django.db import transaction

from accounts.models import User
from games import queries, rules
from games.actions import lobby
from games.actions.play import play_move
from games.models import Game, Move
from games.queries import Table, Viewer
from games.refusals import Denied
from tests.support.history import Attempt, HandShown, History, faults_in, observe, positions_of
from tests.support.tables import NOON, change_position, now_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

MOVES = 14


class Played(NamedTuple):
    """A match of two people with its history. `tick` is the clients' clock."""

    table: Table
    users: tuple[User, User]
    history: History
    rng: random.Random
    tick: Callable[[], float]

    def move(self) -> Attempt:
        """Make a random move of the seat on turn and record it as clients do."""
        here = now_of(self.table)
        seat = here.started.position.turn
        moves = rules.legal_moves(here.started.position, seat, here.options)
        version, text = here.game.version, str(self.rng.choice(moves))
        attempt = Attempt(here.game.code, seat, f"t{version}", text, version, sent=self.tick())
        self.history.attempts.append(attempt)
        self.send(attempt)
        return attempt

    def send(self, attempt: Attempt) -> None:
        try:
            after = play_move(
                code=attempt.game, viewer=Viewer(self.users[attempt.seat]), text=attempt.move, version=attempt.version,
                token=attempt.token, now=NOON,
            )  # fmt: skip
        except Denied:
            attempt.acknowledged = False
        else:
            round_, position = after.started.round, after.started.position
            attempt.acknowledged, attempt.shown = True, after.game.version
            shown = HandShown(attempt.game, (round_.number, attempt.shown), attempt.seat, position.hands[attempt.seat])
            self.history.hands.append(shown)
        attempt.answered = self.tick()

    def kinds(self) -> set[str]:
        """Return the kinds of the faults that the checker finds."""
        return {fault.kind for fault in faults_in(self.history)}


@pytest.fixture
def played(alice: User, bob: User) -> Played:
    options = lobby.TableChoices(players=2, target=5000)
    table = lobby.create_table(user=alice, choices=options, now=NOON)
    table = lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    clock = count()
    match = Played(table, (alice, bob), History(), random.Random(3), lambda: float(next(clock)))
    for _ in range(MOVES):
        match.move()
        observe(match.history, table.game.code)
    return match


def test_a_correct_history_has_no_fault(played: Played) -> None:
    repeated = played.history.attempts[-1]
    played.send(replace(repeated))
    refused = replace(repeated, token="another", version=0)
    played.history.attempts.append(refused)
    played.send(refused)
    assert refused.acknowledged is False
    assert faults_in(played.history) == []
    assert played.history.figures().startswith(f"{MOVES} moves acknowledged, 1 refused; 0 unknown at first")
    assert len(played.history.observed) == len(played.history.hands) - 1 == MOVES


def lose_a_move(played: Played) -> None:
    """Lose a move, as if PostgreSQL had answered before the commit was on disk."""
    with transaction.atomic():
        played.move()
        transaction.set_rollback(True)
    played.history.hands.pop()  # a client that checks the status only


def double_a_move(played: Played) -> None:
    """Make a move twice, as if a client without an answer had repeated it on the next version."""
    while True:
        made = played.move()
        here = now_of(played.table)
        legal = map(str, rules.legal_moves(here.started.position, made.seat, here.options))
        if made.move in legal:
            again = replace(made, token="again", version=here.game.version)
            played.send(again)
            return


def swap_two_moves(played: Played) -> None:
    """Swap two moves of the log."""
    earlier, later = played.history.attempts[10:12]
    (earlier.sent, earlier.answered), (later.sent, later.answered) = (
        (later.sent, later.answered),
        (earlier.sent, earlier.answered),
    )


def change_the_position(played: Played) -> None:
    """Change the position without a move, as in a crash between two writes that belong together."""
    table = now_of(played.table)
    change_position(table, direction=-table.started.position.direction)


def double_a_card(played: Played) -> None:
    table = now_of(played.table)
    first, *others = table.started.position.hands
    change_position(table, hands=((*first, "r5"), *others))
    observe(played.history, played.table.game.code)


def lose_the_game(played: Played) -> None:
    Game.objects.filter(pk=played.table.game.pk).delete()


def take_a_refusal_back(played: Played) -> None:
    played.move().acknowledged = False


def leave_a_move_unanswered(played: Played) -> None:
    played.move().acknowledged = None


def save_another_move(played: Played) -> None:
    line = Move.objects.filter(game=played.table.game).latest("n")
    Move.objects.filter(pk=line.pk).update(text="draw" if line.text != "draw" else "take")


def number_too_high(played: Played) -> None:
    played.history.attempts[5].shown = 3


def show_another_hand(played: Played) -> None:
    shown = played.history.hands[7]
    played.history.hands[7] = shown._replace(cards=("r5", *shown.cards[1:], "W10"))


def go_back(played: Played) -> None:
    """Undo a position that others have seen, and continue from before it."""
    with transaction.atomic():
        attempt = played.move()
        table = now_of(played.table)
        transaction.set_rollback(True)
    played.history.attempts.remove(attempt)
    seen = played.history.observed[-1]
    when = (table.started.round.number, table.game.version)
    played.history.observed.append(seen._replace(when=when, position=table.started.position))


@pytest.mark.parametrize(
    ("seed", "kind"),
    [
        (lose_a_move, "lost"),
        (double_a_move, "doubled"),
        (swap_two_moves, "order"),
        (change_the_position, "stored"),
        (double_a_card, "cards"),
        (lose_the_game, "lost"),
        (take_a_refusal_back, "refused"),
        (leave_a_move_unanswered, "unsettled"),
        (save_another_move, "changed"),
        (number_too_high, "order"),
        (show_another_hand, "changed"),
        (go_back, "changed"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_it_finds_a_seeded_fault(played: Played, seed: Callable[[Played], None], kind: str) -> None:
    assert played.kinds() == set()
    seed(played)
    assert kind in played.kinds()


def test_replayed_positions_match_the_stored_ones(played: Played) -> None:
    here = queries.load(Game.objects.get())
    assert positions_of(here.game)[here.started.round.number, here.game.version] == here.started.position
