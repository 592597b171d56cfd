"""The chart of a round: how many cards each player held after each move, and how many were owed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games import rules
from games.queries import GameView
from games.queries.replays import Counts, ReplayFrame
from games.render.key_moments import moment_sentence, replay_url
from games.render.table import Player
from games.render.words import cards

LOWEST_TOP: Final = 8
"""The least number of cards at the top of a chart."""
NEAR_LIMIT: Final = 0.6
"""The mercy limit is drawn if a hand came this close to it."""
MOST_POINTS: Final = 400
"""The most moves that a line has a point for. Longer rounds leave out moves at regular distances."""
MOST_ROWS: Final = 24
"""About as many rows the table has: moves at regular distances, besides those with key moments."""

BIGGEST_STACK: Final = (
    N_("The biggest stack has {n} card, after move {move}."),
    N_("The biggest stack has {n} cards, after move {move}."),
)
"""Said of a round in which cards were owed."""


class ChartLine(NamedTuple):
    """The cards of one player. `points` are the corners of a line in an SVG. `now` is the number at the shown step.

    `place` is the player's place around the table, which decides the colour.
    """

    place: int
    name: str
    points: str
    now: str
    chosen: bool


class ChartMoment(NamedTuple):
    """A key moment on the chart. `x` and `y` are per cent from the left and from the top. `here`: it is shown now."""

    x: float
    y: float
    kind: str
    text: str
    here: bool


class ChartRow(NamedTuple):
    """A row of the table: a move, the cards of each player, the stack, and key moments in words."""

    n: int
    url: str
    cards: Sequence[int]
    stack: int
    text: str
    here: bool


class Chart(NamedTuple):
    """The chart of a round. `label` says in words what it shows.

    `first` and `last` are the numbers of its moves, `top` the number of cards at its upper edge, `stack` the corners of
    the area of what is owed. `limit` is how far from the top the mercy limit is drawn, in per cent, None if it is not.
    `x` is where the shown step is, in per cent. `names` are the heads of the table, and `rows` its rows.
    """

    label: str
    first: int
    last: int
    width: int
    top: int
    stack: str
    limit: float | None
    x: float
    lines: Sequence[ChartLine]
    moments: Sequence[ChartMoment]
    names: Sequence[str]
    rows: Sequence[ChartRow]


def chart_of(
    step: ReplayFrame, view: GameView, players: Sequence[Player], *, seat: int | None, options: rules.Options
) -> Chart | None:
    """Return the chart of the round of this step; None if it has no moves, or too many to replay them all.

    The lines are in the order of `players`. That of `seat` stands out.
    """
    course = step.course
    if len(course) < 2:
        return None
    first, last = course[0].n, course[-1].n
    width = last - first
    most_held, most_owed = max(max(counts.cards) for counts in course), max(counts.stack for counts in course)
    limit = options.mercy_limit
    near = bool(limit) and most_held >= limit * NEAR_LIMIT
    top = max(most_held, most_owed, LOWEST_TOP, limit if near else 0)
    moments = [moment for moment in step.moments if moment.round == step.round and moment.n in range(first, last + 1)]
    said: dict[int, list[str]] = {}
    for moment in moments:
        said.setdefault(moment.n, []).append(moment_sentence(view, moment))
    drawn = _thinned(course, MOST_POINTS, keep=said)
    here = course[step.n - first]

    def points(values: Sequence[tuple[int, int]]) -> str:
        return " ".join(f"{n - first},{top - value}" for n, value in values)

    return Chart(
        label=_label(step, view),
        first=first,
        last=last,
        width=width,
        top=top,
        stack=points([(first, 0), *((counts.n, counts.stack) for counts in drawn), (last, 0)]) if most_owed else "",
        limit=_percent(top - limit, top) if near else None,
        x=_percent(here.n - first, width),
        lines=[
            ChartLine(
                place=player.place,
                name=player.name,
                points=points([(counts.n, counts.cards[player.seat]) for counts in drawn]),
                now=cards(here.cards[player.seat]),
                chosen=player.seat == seat,
            )
            for player in players
        ],
        moments=[_moment(moment, course[moment.n - first], view, first, width, top, step.n) for moment in moments],
        names=view.names,
        rows=[
            ChartRow(
                n=counts.n,
                url=replay_url(view.id, n=counts.n, round=step.round, seat=seat),
                cards=counts.cards,
                stack=counts.stack,
                text=" ".join(said.get(counts.n, ())),
                here=counts.n == step.n,
            )
            for counts in _thinned(course, MOST_ROWS, keep={*said, step.n})
        ],
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2)


def _thinned(course: Sequence[Counts], most: int, *, keep: Collection[int]) -> list[Counts]:
    """Return about `most` counts at regular distances, the first, the last and those of the moves in `keep`."""
    every = -(-len(course) // most)
    return [counts for at, counts in enumerate(course) if at % every == 0 or counts.n in keep or at == len(course) - 1]


def _moment(
    moment: rules.KeyMoment, counts: Counts, view: GameView, first: int, width: int, top: int, shown: int
) -> ChartMoment:
    # On the line of the player, or on the stack that nobody draws.
    high = counts.stack if moment.kind == "stack" else counts.cards[moment.seat]
    return ChartMoment(
        x=_percent(moment.n - first, width),
        y=_percent(top - high, top),
        kind=moment.kind,
        text=moment_sentence(view, moment),
        here=moment.n == shown,
    )


def _label(step: ReplayFrame, view: GameView) -> str:
    start, end = step.course[0], step.course[-1]
    held = [
        say.text("chart", "{name} goes from {before} to {after}.", name=name, before=before, after=after)
        for name, before, after in zip(view.names, start.cards, end.cards, strict=True)
    ]
    stack = max(step.course, key=lambda counts: counts.stack)
    return " ".join(
        [
            say.text("chart", "Cards held after each move of round {number}.", number=step.round),
            *held,
            *([say.form("chart", BIGGEST_STACK, stack.stack, move=stack.n)] if stack.stack else []),
            say.text("chart", "The table below has the numbers."),
        ]
    )
