"""Tables for the bots' tests: views of hand-made positions, and a bot that checks another."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from games.bots import Bot
from games.rules import PRESETS, Move, Options, Position, View, legal_moves, parse_move, view_for

NO_MERCY = PRESETS["no-mercy"]


class Checked:
    """A bot that plays as another does, with every choice checked against the rules' list."""

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
            assert move._replace(uno=False) in legal
            assert not move.uno or move.kind == "play"
            assert move.kind != "catch" or move.target in view.exposed
        return move


def cards(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def seen(
    *hands: str, top: str = "r5", seat: int = 0, options: Options = NO_MERCY, **fields: object
) -> tuple[View, list[Move]]:
    """The view and the legal moves of a seat; the draw pile holds what is named, else a few numbers."""
    position = Position(
        hands=[cards(hand) for hand in hands],
        turn=0,
        discard_pile=[top],
        draw_pile=cards("g1 g2 y3 y4 b8 b9 r1 r2 g6 y6"),
        color=top[0],
    ).replace(**fields)
    return view_for(position, seat, options), legal_moves(position, seat, options)


def choices(bot: Bot, view: View, legal: Sequence[Move], times: int) -> list[str]:
    """What a bot chooses, asked so many times with other random numbers; silence is an empty text."""
    chosen = [bot.choose(view, legal, Random(seed)) for seed in range(times)]
    return ["" if move is None else str(move) for move in chosen]


def move(text: str) -> Move:
    return parse_move(text)
