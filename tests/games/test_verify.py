"""`check_games`: a correct game passes, and each seeded fault is found."""

from __future__ import annotations

import random
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from games import rules
from games.actions import lobby
from games.actions.play import play_move
from games.models import Game, Hand, Move, Round, Seat
from games.queries import Table, Viewer
from games.queries.verify import faults_of
from tests.support.tables import NOON, change_position, now_of

pytestmark = pytest.mark.django_db(transaction=True)


def played(alice: User, bob: User, moves: int) -> Table:
    """Return a match of two people after `moves` random moves."""
    options = lobby.TableChoices(players=2, target=5000)
    table = lobby.create_table(user=alice, choices=options, now=NOON)
    lobby.join(code=table.game.code, viewer=Viewer(bob), now=NOON)
    rng = random.Random(7)
    for _ in range(moves):
        here = now_of(table)
        position = here.started.position
        move = rng.choice(rules.legal_moves(position, position.turn, here.options))
        user = (alice, bob)[position.turn]
        play_move(code=here.game.code, viewer=Viewer(user), text=str(move), version=here.game.version, now=NOON)
    return now_of(table)


@pytest.mark.long
def test_a_played_match_has_no_faults(alice: User, bob: User) -> None:
    table = played(alice, bob, 120)
    assert faults_of(table.game.pk) == []
    out = StringIO()
    call_command("check_games", stdout=out)
    assert out.getvalue() == "1 games checked, 0 with faults\n"


def test_an_open_table_has_nothing_to_check(alice: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=2), now=NOON)
    assert faults_of(table.game.pk) == []


def swap_cards(table: Table) -> None:
    position = table.started.position
    change_position(table, hands=position.hands[::-1])


FAULTS: dict[str, Callable[[Table], object]] = {
    "position": lambda t: change_position(t, direction=-t.started.position.direction),
    "stored position is not": swap_cards,
    "secret does not match": lambda t: Round.objects.filter(game=t.game).update(commitment="00" * 32),
    "deal does not follow": lambda t: Round.objects.filter(game=t.game).update(deal="r5"),
    "is refused": lambda t: Move.objects.filter(game=t.game, n=3).update(text="play W10 color r uno", seat=0),
    "do not count": lambda t: Move.objects.filter(game=t.game, n=t.game.version).delete(),
    "scores": lambda t: Seat.objects.filter(game=t.game, index=0).update(score=5),
    "have left": lambda t: Seat.objects.filter(game=t.game, index=1).update(left=True),
    "options are invalid": lambda t: Game.objects.filter(pk=t.game.pk).update(options={"nonsense": 1}),
    "poker": lambda t: Game.objects.filter(pk=t.game.pk).update(preset="poker"),
    "not one for each": lambda t: Hand.objects.filter(round=t.started.round, seat__index=0).delete(),
    "whether the round is over": lambda t: Round.objects.filter(game=t.game).update(ended_at=NOON),
}


@pytest.mark.parametrize("words", FAULTS)
def test_check_games_finds_a_seeded_fault(alice: User, bob: User, words: str) -> None:
    table = played(alice, bob, 6)
    FAULTS[words](table)
    assert any(words in fault for fault in faults_of(table.game.pk))
    with pytest.raises(CommandError) as caught:
        call_command("check_games", stdout=StringIO(), stderr=StringIO())
    assert caught.value.returncode == 1


def test_checking_an_unknown_game_is_an_error(alice: User) -> None:
    with pytest.raises(CommandError, match="there is no game nowhere"):
        call_command("check_games", "nowhere")
    assert not Game.objects.exists()
