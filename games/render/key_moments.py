"""The key moments of a finished match as links to the steps of its replay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from django.urls import reverse
from django.utils.http import urlencode

from common.readers_language import say
from common.say import N_, Message
from games import rules
from games.queries import GameView

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


class Sentences(NamedTuple):
    """Sentences about a key moment: one for its player, and one for everybody else."""

    you: Message
    others: Message


SENTENCES: Final = {
    "knocked_out": Sentences(N_("No mercy: you are out."), N_("No mercy: {name} is out.")),
    "took_stack": Sentences(N_("You take a stack of {n}."), N_("{name} takes a stack of {n}.")),
    "stack": Sentences(N_("A stack of {n} on you."), N_("A stack of {n} on {name}.")),
    "lead": Sentences(
        (N_("You take the lead with {n} point."), N_("You take the lead with {n} points.")),
        (N_("{name} takes the lead with {n} point."), N_("{name} takes the lead with {n} points.")),
    ),
    "lead/penalty": Sentences(
        (N_("You take the lead with {n} penalty point."), N_("You take the lead with {n} penalty points.")),
        (N_("{name} takes the lead with {n} penalty point."), N_("{name} takes the lead with {n} penalty points.")),
    ),
}
"""What is said of each kind of key moment, and of a lead where the fewest points win (SCORE-4)."""


def moment_sentence(view: GameView, moment: rules.KeyMoment) -> str:
    """Return a key moment as a sentence to its reader: `You take a stack of 12.`"""
    penalty = moment.kind == "lead" and view.options.scoring == "penalty"
    row = SENTENCES["lead/penalty" if penalty else moment.kind]
    message = row.you if moment.seat == view.you else row.others
    return say.form("moment", message, moment.amount, name=view.names[moment.seat])


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
    more = say.plural("moment", "And {n} more moment.", "And {n} more moments.", left_out) if left_out else ""
    return MomentList(links, more)


def _weight(moment: rules.KeyMoment) -> tuple[int, int]:
    order = {"lead": 2, "knocked_out": 1, "took_stack": 0, "stack": 0}
    return order[moment.kind], moment.amount
