"""What others did since the reader's last move: a list that stands above the hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from operator import itemgetter
from typing import NamedTuple

from common.readers_language import say
from games import rules
from games.queries import GameView, LogLine
from games.render.log_rows import LogNote, lines_since_your_move
from games.render.orders import ended_words
from games.render.page_events import said_of
from games.render.words import round_cancelled


class NewsStep(NamedTuple):
    """A move or an event between the moves, in a line.

    `card` is the face that was played, empty if none was, and `side` the side that has it.
    """

    text: str
    card: rules.Card = ""
    side: str | None = None


class News(NamedTuple):
    """The list and its heading.

    `brief` is always in sight: what staff said or did, the only step, or how many there are. `steps` are oldest first.
    """

    title: str
    brief: str
    steps: Sequence[NewsStep]


def news_of(view: GameView, lines: Sequence[LogLine], notes: Sequence[LogNote] = ()) -> News | None:
    """Return what others did, or None if there is nothing or it is not shown now.

    While it is somebody else's turn, it is shown only if staff have cancelled a round or said something.
    """
    steps = since_your_move(view, lines, notes)
    from_staff = {round_cancelled(number) for number in view.cancelled} | {note.text for note in notes if note.said}
    said = next((step.text for step in reversed(steps) if step.text in from_staff), "")
    if not steps or not (view.my_turn or view.status == "over" or said):
        return None
    many = say.plural("news", "{n} thing", "{n} things", len(steps))
    moved = any(line.round == view.round and line.is_of(view.you) for line in lines)
    return News(
        title=say.text("news", "Since your last move") if moved else say.text("news", "So far"),
        brief=said or (many if len(steps) > 1 else steps[0].text),
        steps=steps,
    )


def since_your_move(view: GameView, lines: Sequence[LogLine], notes: Sequence[LogNote] = ()) -> list[NewsStep]:
    """Return what others did since the reader's last move, or since the reader got the seat, oldest first.

    Empty for a spectator. A round that staff voided is one sentence, without its moves. Give `notes` oldest first.
    """
    if view.you is None:
        return []
    seated = max((n for n, note in enumerate(notes, 1) if note.seats_reader), default=0)
    known = {note.text for note in notes[:seated]}
    newer = lines_since_your_move(view, lines)
    before = lines[: len(lines) - len(newer)]
    first = before[-1].round if before else lines[0].round if lines and lines[0].n > 1 else 1
    cancelled = [number for number in view.cancelled if number >= first and round_cancelled(number) not in known]
    news = [((number, inf), NewsStep(round_cancelled(number))) for number in cancelled]
    shown, sides = [line for line in newer if line.round not in cancelled], _sides(view, newer)
    news += [((line.round, float(line.n)), _step(view, line, sides[line.n])) for line in shown]
    since = before[-1].n if before else 0
    told = [(note.version, note.text) for note in notes[seated:] if note.in_news and note.version >= since]
    ended = view.orders.ended if view.orders else None
    if ended is not None and ended.version > since:
        told.append((ended.version, ended_words(view, ended)))
    for version, text in told:
        round_ = next((line.round for line in reversed(lines) if line.n <= version), first)
        news.append(((round_, version + 0.5), NewsStep(text)))
    return [step for _, step in sorted(news, key=itemgetter(0)) if step.text]


def _sides(view: GameView, lines: Sequence[LogLine]) -> dict[int, str | None]:
    """Return the side in force before each of these lines, the newest of the log, by their numbers.

    The end of an earlier round counts as played on the first side, unless a Flip follows there.
    """
    side, sides = view.view.side if view.view else None, dict[int, str | None]()
    for line in reversed(lines):
        for event in line.events:
            if event.kind == "flipped":
                side = view.options.rules.other_side(event.reason)
        sides[line.n] = side
    return sides


def _step(view: GameView, line: LogLine, side: str | None) -> NewsStep:
    played = [event for event in line.events if event.kind in ("played", "shed", "missed")]
    cards = [card for event in played for card in (event.card, *(event.cards or ())) if card]
    # The table shows the direction.
    said = [text for event, text in zip(line.events, said_of(view, line), strict=True) if event.kind != "turned_round"]
    return NewsStep(" ".join(filter(None, said)), cards[0] if cards else "", side)
