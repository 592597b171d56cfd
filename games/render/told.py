"""The log, and what is read out: events as sentences in the reader's voice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from games import rules
from games.queries import GameView, LogLine
from games.queries.conduct import StaffAct
from games.refusals import Denied
from games.render.acts import deed
from games.render.words import headline, moment

ALARMS: Final = {"owes": "seat", "caught": "target", "knocked_out": "seat", "aimed": "target", "false_catch": "seat"}
"""Events that interrupt, and the field that says whom; the sentence says what."""


# Every page tells mostly what the page before it told: events, voice and names together say what is said.
_sentence = lru_cache(maxsize=8192)(rules.sentence)


def sentences(view: GameView, line: LogLine) -> list[str]:
    """What a line did. Events say when the clock did it, but for a stack that it took: the line's move does."""
    names = tuple(view.names)
    said = [_sentence(event, view.you, names) for event in line.events]
    if said and line.text == "clock take":
        said[0] = f"{said[0].removesuffix('.')} (time ran out)."
    return said


class LogRow(NamedTuple):
    """A line of the log as its reader sees it: a move, or what staff did, whose `n` is 0.

    `heading` stands above the last line of an earlier round.
    """

    n: int
    text: str
    at: str
    when: str
    mine: bool = False
    heading: str = ""


def log_of(view: GameView, lines: Sequence[LogLine], now: datetime, acts: Sequence[StaffAct] = ()) -> list[LogRow]:
    """The log newest first: its lines, and what staff did after each. Both are given oldest first."""
    rows: list[LogRow] = []
    newer, left = None, list(acts)
    for line in reversed(lines):
        while left and left[-1].version >= line.n:
            rows.append(_staff_row(left.pop(), now))
        heading = f"Round {line.round}" if newer not in (None, line.round) else ""
        newer = line.round
        text, at = " ".join(sentences(view, line)), line.at.isoformat(timespec="seconds")
        rows.append(LogRow(line.n, text, at, moment(line.at, now), line.seat == view.you, heading))
    return [*rows, *(_staff_row(act, now) for act in reversed(left))]


def _staff_row(act: StaffAct, now: datetime) -> LogRow:
    return LogRow(0, deed(act), act.at.isoformat(timespec="seconds"), moment(act.at, now))


def since_your_move(view: GameView, lines: Sequence[LogLine]) -> list[str]:
    """What others have done since the reader's last move, oldest first; nothing for who only watches."""
    if view.you is None:
        return []
    news: list[str] = []
    for line in reversed(lines):
        if line.seat == view.you:
            break
        news.append(" ".join(sentences(view, line)))
    news.reverse()
    return news


def announcements(
    view: GameView,
    lines: Iterable[LogLine],
    *,
    since: int,
    refusal: Denied | None,
    now: datetime,
    ended: int | None = None,
) -> dict[str, list[str]]:
    """What the live regions say about the moves after version `since`, about a refusal, and about a new deal.

    `ended` is the round whose end the reader was told of last, if the page showed one.
    """
    polite: list[str] = []
    assertive: list[str] = []
    if refusal is not None:
        assertive.append(refusal.message)
    moved, others = False, ended is not None and view.round > ended
    if others:
        polite.append(f"Round {view.round} is dealt.")
    for line in lines:
        if line.n <= since:
            continue
        moved, others = True, others or line.seat != view.you
        for event, said in zip(line.events, sentences(view, line), strict=True):
            whom = ALARMS.get(event.kind)
            alarm = whom is not None and view.you is not None and getattr(event, whom) == view.you
            (assertive if alarm else polite).append(said)
    if (others and view.my_turn) or (view.turn is None and (others or moved)):
        assertive.append(headline(view, now))
    return {"polite": polite, "assertive": assertive}
