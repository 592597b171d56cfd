"""Helpers for tests of bots: views of positions, and a bot that checks another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from games.bots import Bot
from games.rules import PRESETS, Move, Options, Position, View, legal_moves, parse_move, view_for

NO_MERCY = PRESETS["no-mercy"]


class Checked:
    """Plays like another bot and checks that every choice is legal."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.name, self.label, self.help = bot.name, bot.label, bot.help
        self.choices = 0

    def choose(self, view: View, legal: Sequence[Move], rng: Random) -> Move | None:
        move = self.bot.choose(view, legal, rng)
        self.choices += 1
        if move is None:
            assert view.turn != view.you
        else:
            assert replace(move, uno=False) in legal
            assert not move.uno or move.kind == "play"
            assert move.kind != "catch" or move.target in view.exposed
        return move


def cards(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def seen(
    *hands: str, top: str = "r5", seat: int = 0, options: Options = NO_MERCY, **fields: object
) -> tuple[View, list[Move]]:
    """Return the view and the legal moves of a seat. `fields` are more fields of the position."""
    position = Position(
        hands=[cards(hand) for hand in hands],
        turn=0,
        discard_pile=[top],
        draw_pile=cards("g1 g2 y3 y4 b8 b9 r1 r2 g6 y6"),
        color=top[0],
    ).replace(**fields)
    return view_for(position, seat, options), legal_moves(position, seat, options)


def choices(bot: Bot, view: View, legal: Sequence[Move], times: int) -> list[str]:
    """Return the choices of a bot, asked several times with different random numbers. No move is an empty text."""
    chosen = [bot.choose(view, legal, Random(seed)) for seed in range(times)]
    return ["" if move is None else str(move) for move in chosen]


def move(text: str) -> Move:
    return parse_move(text)
