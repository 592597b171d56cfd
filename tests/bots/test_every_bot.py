"""Every bot: legal moves only, repeatable choices, no knowledge of hidden cards, only the standard library."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from random import Random

import pytest

from games.bots import BOTS
from games.bots.arena import next_move, play_round
from games.bots.sharp import Sharp
from games.bots.worlds import sample_world, unseen_cards
from games.rules import (
    PRESETS,
    Options,
    Position,
    Shuffler,
    apply,
    deal,
    key_from_seed,
    legal_moves,
    options_from,
    view_for,
)
from tests.bots.tables import NO_MERCY, Checked, seen

HOUSE_RULES = {
    "strict": options_from("no-mercy", {"voluntary_draw": False, "roulette_color": "player", "false_catch_penalty": 3}),
    "swift": options_from("no-mercy", {"last_draw_card": "win_now", "mercy_limit": 12, "uno_on_received_hand": False}),
    "answered": options_from("no-mercy", {"last_draw_card": "draw_then_win", "mercy_limit": 30, "scoring": "penalty"}),
    "stacked": options_from("classic", {"stacking": True, "zero_seven": True, "drawn_must_play": True}),
}


def positions(options: Options, players: int, seed: str) -> list[Position]:
    """Return the positions of a round among careful bots."""
    rng, shuffle = Random(seed), Shuffler(key_from_seed(seed)).shuffle
    position = deal(options, players, shuffle)
    passed = []
    while position.phase != "over":
        passed.append(position)
        seat, chosen = next_move([BOTS["careful"]] * players, position, options, rng)
        position, _ = apply(position, seat, chosen, options, shuffle)
    return passed


@pytest.mark.long
@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["random", "careful"])
def test_bots_always_choose_legal_moves_and_their_rounds_end(name: str, preset: str, players: int) -> None:
    for game in range(3):
        end = play_round([Checked(BOTS[name])] * players, PRESETS[preset], f"{name} {game}")
        assert end.winner is not None


@pytest.mark.parametrize("players", range(2, 7))
@pytest.mark.parametrize("preset", PRESETS)
def test_sharp_always_chooses_a_legal_move(preset: str, players: int) -> None:
    sharp = Checked(Sharp(budget=100))
    play_round([sharp, *[BOTS["careful"]] * (players - 1)], PRESETS[preset], "legal")
    assert sharp.choices


@pytest.mark.parametrize("name", HOUSE_RULES)
def test_every_bot_plays_with_unusual_options(name: str) -> None:
    bots = [Checked(bot) for bot in (BOTS["random"], BOTS["careful"], Sharp(budget=100))]
    end = play_round(bots, HOUSE_RULES[name], "house")
    assert end.winner is not None
    assert all(bot.choices for bot in bots)


@pytest.mark.parametrize("name", BOTS)
def test_the_same_random_numbers_give_the_same_choice(name: str) -> None:
    for position in positions(NO_MERCY, 3, "again")[::20]:
        view = view_for(position, position.turn, NO_MERCY)
        legal = legal_moves(position, position.turn, NO_MERCY)
        first, second = (BOTS[name].choose(view, legal, Random(5)) for _ in range(2))
        assert first == second


@pytest.mark.parametrize("name", BOTS)
def test_a_choice_does_not_depend_on_hidden_cards(name: str) -> None:
    for number, position in enumerate(positions(NO_MERCY, 3, "hidden")[::20]):
        seat = position.turn
        view = view_for(position, seat, NO_MERCY)
        other = sample_world(view, unseen_cards(view), Random(number))
        assert other != position
        told = [
            BOTS[name].choose(view_for(world, seat, NO_MERCY), legal_moves(world, seat, NO_MERCY), Random(1))
            for world in (position, other)
        ]
        assert told[0] == told[1]


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS)
def test_a_sampled_world_has_the_same_view_and_all_cards_of_the_deck(preset: str) -> None:
    options = PRESETS[preset]
    sides = {side.name: side for side in options.rules.deck.sides}
    for position in positions(options, 4, "worlds"):
        for seat in range(4):
            view = view_for(position, seat, options)
            world = sample_world(view, unseen_cards(view), Random(seat))
            assert view_for(world, seat, options) == view or (position.drawn and seat != position.turn)
            held = Counter(card for hand in world.hands for card in hand)
            held.update(world.draw_pile + world.discard_pile + world.set_aside)
            side = sides[view.side]
            faces = held if side.shown is None else Counter(side.shown[card] for card in held.elements())
            assert faces == Counter(side.printed)


def test_a_world_can_have_more_cards_than_the_deck() -> None:
    view, legal = seen("W10 " * 9 + "r1", "W10 " * 9, draw_pile=("W10",) * 200)
    world = sample_world(view, unseen_cards(view), Random(1))
    assert (len(world.draw_pile), len(world.hands[1])) == (200, 9)
    assert BOTS["sharp"].choose(view, legal, Random(1)) in legal


def test_a_bot_on_turn_must_choose_a_move() -> None:
    class Silent(Checked):
        def choose(self, *_: object) -> None:
            return None

    with pytest.raises(ValueError, match="chose no move"):
        play_round([Silent(BOTS["random"])] * 2, NO_MERCY, "silent")


def fresh(program: str, hash_seed: str) -> str:
    """Return what a program prints in a new interpreter."""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return run.stdout


@pytest.mark.long
def test_a_round_is_the_same_in_every_process() -> None:
    program = (
        "from games.bots import BOTS; from games.bots.arena import play_round\n"
        "from games.bots.sharp import Sharp; from games.rules import PRESETS\n"
        "print(play_round([Sharp(100), BOTS['careful']], PRESETS['no-mercy'], 'process'))"
    )
    assert fresh(program, "1") == fresh(program, "2")


def test_bots_need_only_the_standard_library() -> None:
    program = (
        "import sys; import games.bots, games.bots.arena\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names) - {'__main__'}))"
    )
    ours = {name for name in fresh(program, "0").split() if not name.startswith(("_", "sitecustomize"))}
    assert ours == {"common", "games"}
