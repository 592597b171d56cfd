"""Test that no answer changes when cards that its reader may not know are swapped during a game (Q26).

The players play by their browsers, games of every kind. After some moves a viewer asks every address of the site and
sends moves whose outcome no hidden card decides: once as the game is, once after everything hidden was swapped, and for
players and spectators also once after a single swap. Every byte must agree except for `VARYING_PARTS`: bodies, headers,
cookies, and what the server logs. `test_swap_leaks.py` shows that leaks are found.

Every role looks at a game, and a game of every kind is looked at. In the short form nobody asks addresses that refuse
them, except those about games, only the roles in `ASK_EVERYTHING` ask addresses that are not about games, and single
swaps are looked at in pages about games only. `SWAP_ANSWERS=30000` compares that many answers.
"""

from __future__ import annotations

import os
import random
from itertools import count, cycle
from typing import Final

import pytest

from tests.conftest import Figure
from tests.security.viewers import KINDS, Compared, Viewer, game_of, played_on
from tests.security.world import ROLES
from tests.support.swaps import SWAPS
from tests.support.worlds import undone

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_moment")]

ANSWERS: Final = int(os.environ.get("SWAP_ANSWERS", "0"))
A_FEW: Final = 150
"""The number of answers compared in the default run."""
MOST_STRETCHES: Final = 3
"""The most stretches of moves (`played_on`) before a viewer looks at a game."""
AT_THE_TABLE: Final = ("seated", "opponent", "spectator")
ASK_EVERYTHING: Final = ("seated", "seated moderator", "admin")
"""A player, a member of staff who plays, and one who does not. The pages of the others are among theirs."""
VIEWERS: Final = ("seated", "spectator", *(role for role in ROLES if role not in ("seated", "spectator")))


def compared(answers: int, *, few: bool) -> Compared:
    """Play games until this many answers are compared."""
    done, roles, ways = Compared(), cycle(VIEWERS), cycle(name for name in SWAPS if name != "everything")
    for seed in count():
        rng = random.Random(seed)
        with undone():
            world, table = game_of(KINDS[seed % len(KINDS)], seed)
            for _ in range(rng.randint(1, MOST_STRETCHES)):
                table = played_on(world, table, rng)
            if table.game.ended:
                continue
            done.games = seed + 1
            role = next(roles)
            some = few or not (ANSWERS or role in ASK_EVERYTHING)
            viewer = Viewer(world, role, few=some, refused=ANSWERS > 0)
            done.look(table, viewer, ["everything"], rng)
            if role in AT_THE_TABLE:
                done.look(table, viewer if ANSWERS else Viewer(world, role, few=True), [next(ways)], rng)
            everybody = {role for role, _ in done.pairs} == set(ROLES) and done.games >= len(KINDS)
            if done.answers >= answers and (few or everybody):
                return done
    raise AssertionError("games do not run out")


@pytest.mark.contained
def test_no_answer_depends_on_cards_that_its_reader_may_not_know(figure: Figure) -> None:
    done = compared(A_FEW, few=True)
    assert done.different == []
    figure(f"{done.answers} answers compared, 0 different")


@pytest.mark.long
def test_no_address_answers_differently_with_hidden_cards(figure: Figure) -> None:
    done = compared(ANSWERS, few=False)
    assert done.different == []
    assert done.answers > 600
    figure(f"{done.answers} answers compared in {done.games} games, 0 different")
