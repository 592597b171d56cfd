"""The page of one step of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from common.readers_language import say
from games import rules
from games.queries import GameView, LogLine
from games.queries.replays import ReplayFrame
from games.render import words
from games.render.chart import Chart, chart_of
from games.render.invitations import Preview
from games.render.key_moments import MomentList, moment_sentence, moments_of, replay_url
from games.render.log_rows import LogRow, log_of, sentences
from games.render.table import Card, Player, Stage, players_of, shown_cards, stage_of


class ReplayLink(NamedTuple):
    """A link within the replay. `url` is empty if there is no such step. `here`: it leads to this step."""

    id: str
    label: str
    url: str
    here: bool = False


class HeldHand(NamedTuple):
    """A hand at this step. `size` is its number of cards in words. `now`: it is this player's turn."""

    name: str
    size: str
    now: bool
    out: bool
    cards: Sequence[Card]


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """A step of a replay.

    `done` is what this move did, `now` what must be done next. `n` is the number of moves so far, out of `last`. `seat`
    is the seat whose view is shown; None shows all hands. `steps`, `rounds` and `seats` link to other steps and views.
    `moments` are the key moments of the match, and `marked` the numbers of this round's moves with one. `chart` is None
    if the round is too long for one, or has no moves. `preview` is what chats show of a link to this step, None where
    visitors see no tables.
    """

    code: str
    title: str
    done: str
    now: str
    crumb: str
    n: int
    last: int
    round: int
    seat: int | None
    table: Stage
    players: Sequence[Player]
    hands: Sequence[HeldHand]
    steps: Sequence[ReplayLink]
    rounds: Sequence[ReplayLink]
    seats: Sequence[ReplayLink]
    log: Sequence[LogRow]
    url: str
    chart: Chart | None
    moments: MomentList
    marked: frozenset[int]
    preview: Preview | None


def replay_of(
    step: ReplayFrame, view: GameView, *, seat: int | None, options: rules.Options, now: datetime
) -> ReplayPage:
    """Return the page of this step for the reader of `view`, from the view of `seat`, or with all hands for None."""
    seen = view.view
    assert seen is not None
    lines = [_as_known(line, seat) for line in step.lines]
    players = players_of(view, now)
    return ReplayPage(
        code=view.id,
        title=_title(step, lines),
        done=_what_was_done(step, view, lines),
        now=words.headline(view) if view.turn is not None or step.after is None else "",
        crumb=words.crumb(view),
        n=step.n,
        last=step.last,
        round=step.round,
        seat=seat,
        table=stage_of(view, seen),
        players=players,
        hands=_hands(step, view, seat, options),
        steps=_steps(step, view.id, seat),
        rounds=_rounds(step, view.id, seat),
        seats=_seats(step, view, seat),
        log=log_of(view, lines, now),
        url=replay_url(view.id),
        chart=chart_of(step, view, players, seat=seat, options=options),
        moments=moments_of(view, step.moments, seat=seat, at=(step.n, step.round)),
        marked=frozenset(moment.n for moment in step.moments if moment.round == step.round),
        preview=None if settings.LOGIN_REQUIRED else _preview(step, replace(view, you=None), lines),
    )


def _preview(step: ReplayFrame, view: GameView, lines: Sequence[LogLine]) -> Preview:
    """Return what chats show of a link to this step: its key moments, or else what the move did."""
    here = [moment for moment in step.moments if (moment.n, moment.round) == (step.n, step.round)]
    told = " ".join([moment_sentence(view, moment) for moment in here]) or _what_was_done(step, view, lines)
    about = say.text(
        "replay",
        "{game} with {names}: move {number} of {last}.",
        game=rules.PRESET_TITLES[view.preset],
        names=words.listed(view.names),
        number=step.n,
        last=step.last,
    )
    url = replay_url(view.id, n=step.n, round=step.round)
    return Preview(told, about, settings.SITE_URL + url)


def _title(step: ReplayFrame, lines: Sequence[LogLine]) -> str:
    if lines:
        return say.text("replay", "Move {number} of {last}", number=step.n, last=step.last)
    return say.text("replay", "Round {number} is dealt", number=step.round)


def _what_was_done(step: ReplayFrame, view: GameView, lines: Sequence[LogLine]) -> str:
    if lines:
        return " ".join(sentences(view, lines[-1]))
    if step.position.turn == view.you:
        return say.text("replay", "Round {number} is dealt. You begin.", number=step.round)
    name = view.names[step.position.turn]
    return say.text("replay", "Round {number} is dealt. {name} begins.", number=step.round, name=name)


def _as_known(line: LogLine, seat: int | None) -> LogLine:
    """Return a line of the log with only what this seat knew at the time, or with everything for None."""
    return line if seat is None else replace(line, events=rules.redact(line.events, seat, over=False))


def _hands(step: ReplayFrame, view: GameView, from_seat: int | None, options: rules.Options) -> list[HeldHand]:
    """Return the hand of `from_seat`, or all hands for None."""
    position = step.position
    fitting = {move.card for move in rules.legal_moves(position, position.turn, options) if move.kind == "play"}
    return [
        HeldHand(
            name=view.names[seat],
            size=words.cards(len(hand)),
            now=seat == view.turn,
            out=seat in position.out,
            cards=shown_cards(
                hand,
                options,
                position.extra.side,
                fitting=fitting if seat == view.turn else (),
                backs=from_seat is None,  # nobody sees the hidden faces of their own hand (FLIP-6)
            ),
        )
        for seat, hand in enumerate(position.hands)
        if from_seat in (None, seat)
    ]


def _steps(step: ReplayFrame, code: str, seat: int | None) -> list[ReplayLink]:
    first, final = step.spans[0], step.spans[-1]
    places: Sequence[tuple[str, str, tuple[int, int] | None]] = (
        ("first", say.text("replay", "First"), (0, first.number) if step.before else None),
        ("back", say.text("replay", "Previous"), step.before),
        ("on", say.text("replay", "Next"), step.after),
        ("last", say.text("replay", "Last"), (step.last, final.number) if step.after else None),
    )
    return [
        ReplayLink(name, label, replay_url(code, n=to[0], round=to[1], seat=seat) if to else "")
        for name, label, to in places
    ]


def _rounds(step: ReplayFrame, code: str, seat: int | None) -> list[ReplayLink]:
    if len(step.spans) == 1:
        return []
    return [
        ReplayLink(
            f"round-{span.number}",
            say.text("replay", "Round {number}", number=span.number),
            replay_url(code, n=span.start, round=span.number, seat=seat),
            span.number == step.round,
        )
        for span in step.spans
    ]


def _seats(step: ReplayFrame, view: GameView, chosen: int | None) -> list[ReplayLink]:
    here = {"n": step.n, "round": step.round}
    links = [
        ReplayLink("seat-all", say.text("replay", "Everyone’s hands"), replay_url(view.id, **here), chosen is None)
    ]
    for seat in view.seats:
        label = say.text("replay", "{name} (you)", name=seat.name) if seat.seat == view.you else seat.name
        links.append(
            ReplayLink(
                f"seat-from-{seat.seat}", label, replay_url(view.id, **here, seat=seat.seat), seat.seat == chosen
            )
        )
    return links
