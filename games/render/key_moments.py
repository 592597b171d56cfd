"""The key moments of a finished match as links to the steps of its replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from django.urls import reverse
from django.utils.http import urlencode

from games import rules
from games.queries import GameView
from games.render.words import counted, points_unit

MOST_MOMENTS: Final = 40
"""The most key moments that a page lists. Of more it leaves out small stacks first, then knock-outs."""


class MomentLink(NamedTuple):
    """A step of a replay with one or more key moments. `kind` is that of the gravest. `here`: this step is shown."""

    n: int
    kind: str
    text: str
    url: str
    here: bool = False


class MomentList(NamedTuple):
    """The key moments of a match. `more` says how many are left out, empty if none are."""

    links: Sequence[MomentLink]
    more: str


def replay_url(code: str, **query: int | None) -> str:
    """Return the address of a step of a replay: `n`, `round` and `seat`, each unless it is None."""
    chosen = {name: value for name, value in query.items() if value is not None}
    return reverse("replay", args=[code]) + (f"?{urlencode(chosen)}" if chosen else "")


def moment_sentence(view: GameView, moment: rules.KeyMoment) -> str:
    """Return a key moment as a sentence to its reader: `You take a stack of 12.`"""
    you = moment.seat == view.you
    name = "You" if you else view.names[moment.seat]
    match moment.kind:
        case "knocked_out":
            return f"{name} {'are' if you else 'is'} out by the mercy rule."
        case "took_stack":
            return f"{name} {'take' if you else 'takes'} a stack of {moment.amount}."
        case "stack":
            return f"A stack of {moment.amount} on {'you' if you else name}."
        case "lead":
            score = counted(moment.amount, points_unit(view.options))
            return f"{name} {'take' if you else 'takes'} the lead with {score}."


def moments_of(
    view: GameView, moments: Iterable[rules.KeyMoment], *, seat: int | None = None, at: tuple[int, int] | None = None
) -> MomentList:
    """Return the key moments as links to the replay from the view of `seat`, in the order of the log.

    `at` is the step that is shown, as its `n` and its round.
    """
    every = list(moments)
    heaviest = sorted(range(len(every)), key=lambda n: _weight(every[n]), reverse=True)[:MOST_MOMENTS]
    # In the order of the log, also within a move: a stack that is taken comes before the knock-out by it.
    kept = [every[n] for n in sorted(heaviest)]
    links = []
    for (n, number), together in groupby(kept, key=lambda moment: (moment.n, moment.round)):
        same = list(together)
        text = " ".join(moment_sentence(view, moment) for moment in same)
        url = replay_url(view.id, n=n, round=number, seat=seat)
        links.append(MomentLink(n, max(same, key=_weight).kind, text, url, at == (n, number)))
    left_out = len(every) - len(kept)
    return MomentList(links, f"And {counted(left_out, 'more moment')}." if left_out else "")


def _weight(moment: rules.KeyMoment) -> tuple[int, int]:
    order = {"lead": 2, "knocked_out": 1, "took_stack": 0, "stack": 0}
    return order[moment.kind], moment.amount
