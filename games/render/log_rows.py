"""The rows of the log, and what screen readers announce: events as sentences that call the reader "you"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple

from games import rules
from games.queries import GameView, LogLine
from games.queries.former_holders import FORMER_PLAYER
from games.refusals import Denied
from games.render.words import headline, round_cancelled, short_time

ALARMS: Final = {
    "owes": "seat",
    "owes_color": "seat",
    "challenged": "target",
    "intercepted": "target",
    "slowest": "seat",
    "caught": "target",
    "knocked_out": "seat",
    "aimed": "target",
    "false_catch": "seat",
}
"""Events that a screen reader announces at once to the player in the given field of the event."""


_SMALL: Final = ("your bot ", FORMER_PLAYER)
"""How sentences start that need a capital letter."""


def sentence_case(text: str) -> str:
    """Return a sentence with a capital letter, unless it starts with a name that people chose."""
    return f"{text[0].upper()}{text[1:]}" if text.startswith(_SMALL) else text


# Cached because most lines of a page were on the page before. The arguments decide the sentence.
_sentence = lru_cache(maxsize=8192)(rules.sentence)


def sentences(view: GameView, line: LogLine) -> list[str]:
    """Return one sentence for each event of a line of the log.

    They name the people who had the seats then. If a bot played for the owner of the seat, or in place of a removed
    player, they name the bot, for the owner too. Plays of standing orders say so.
    """
    names = [line.former.get(seat, name) for seat, name in enumerate(view.names)]
    reader = _reader_at(view, line)
    if line.by_bot:
        own = line.seat == reader
        names[line.seat], reader = ("your bot", None) if own else (f"{names[line.seat]}’s bot", reader)
    said = [_sentence(event, reader, tuple(names)) for event in line.events]
    said = list(map(sentence_case, said))
    # Events say if the clock caused them, except for a stack that it took.
    if said and line.text == "clock take":
        said[0] = f"{said[0].removesuffix('.')} (time ran out)."
    if said and line.by_order:
        said[0] = f"{said[0].removesuffix('.')} by standing order."
    return said


def _reader_at(view: GameView, line: LogLine) -> int | None:
    """Return the reader's seat, or None if it was another person's when this line was written."""
    return None if view.you in line.former else view.you


class LogRow(NamedTuple):
    """A row of the log: a move, or a note between two moves, whose `n` is 0.

    `at` is the time in ISO 8601, `when` the same in words. `mine`: the reader made the move. `heading` is shown above
    the newest row of an earlier round.
    """

    n: int
    text: str
    at: str
    when: str
    mine: bool = False
    heading: str = ""


class LogNote(NamedTuple):
    """A note in the log after move `version`, such as a pause. `ends_round`: the event ended the round."""

    version: int
    at: datetime
    text: str
    ends_round: bool = False


def log_of(view: GameView, lines: Sequence[LogLine], now: datetime, notes: Sequence[LogNote] = ()) -> list[LogRow]:
    """Return the rows of the log, newest first, with each note after its move. Give both lists oldest first."""
    rows: list[LogRow] = []
    newer, left = view.round, list(notes)
    for line in reversed(lines):
        after: list[LogNote] = []
        while left and left[-1].version >= line.n:
            after.append(left.pop())
        heading = f"Round {line.round}" if newer != line.round else ""
        newer = line.round
        if heading:  # notes up to the one that ended the round belong to that round
            own = next((n for n, note in enumerate(after) if note.ends_round), len(after))
            rows += [_note_row(note, now) for note in after[:own]]
            after = after[own:]
        found = [_note_row(note, now) for note in after]
        text, at = " ".join(sentences(view, line)), line.at.isoformat(timespec="seconds")
        found.append(LogRow(line.n, text, at, short_time(line.at, now), is_own(view, line)))
        if heading:
            found[0] = found[0]._replace(heading=heading)
        rows += found
    return [*rows, *(_note_row(note, now) for note in reversed(left))]


def is_own(view: GameView, line: LogLine) -> bool:
    """Return True if the reader made this move: not a former owner of the seat, the clock, a bot or standing orders."""
    others = line.seat in line.former or line.by_clock or line.by_bot or line.by_order
    return line.seat == view.you and not others


def _note_row(note: LogNote, now: datetime) -> LogRow:
    return LogRow(0, note.text, note.at.isoformat(timespec="seconds"), short_time(note.at, now))


def since_your_move(view: GameView, lines: Sequence[LogLine]) -> list[str]:
    """Return what others did since the reader's last move, or since the reader got the seat, oldest first.

    Empty for a spectator. A round that staff voided is one sentence, without its moves.
    """
    if view.you is None:
        return []
    first, newer = 1, list[LogLine]()
    for line in reversed(lines):
        if is_own(view, line) or view.you in line.former:
            first = line.round
            break
        newer.append(line)
    else:
        if lines and lines[0].n > 1:  # the log has earlier lines, which are not shown
            first = lines[0].round
    cancelled = [number for number in view.cancelled if number >= first]
    news = [(number, round_cancelled(number)) for number in cancelled]
    shown = [line for line in reversed(newer) if line.round not in cancelled]
    news += [(line.round, " ".join(sentences(view, line))) for line in shown]
    return [said for _, said in sorted(news, key=itemgetter(0))]


def announcements(
    view: GameView,
    lines: Iterable[LogLine],
    *,
    since: int,
    refusal: Denied | None,
    now: datetime,
    ended: int | None = None,
    deal: int | None = None,
) -> dict[str, list[str]]:
    """Return what a screen reader announces: the moves after version `since`, a refusal, and a new deal.

    The keys are `polite` and `assertive`, as in `aria-live`. `ended` is the round whose end the page showed, if any.
    `deal` is the number of the deal that it showed. Of a round that staff voided since, no moves are announced.
    """
    polite: list[str] = []
    assertive: list[str] = []
    if refusal is not None:
        assertive.append(refusal.message)
    cancelled = [] if deal is None else [number for number in view.cancelled if number >= deal]
    assertive += map(round_cancelled, cancelled)
    next_dealt = ended is not None and view.round > ended
    moved, others = False, next_dealt or bool(cancelled)
    if next_dealt:
        polite.append(f"Round {view.round} is dealt.")
    for line in lines:
        if line.n <= since or line.round in cancelled:
            continue
        moved, others = True, others or not is_own(view, line)
        reader = _reader_at(view, line)
        for event, said in zip(line.events, sentences(view, line), strict=True):
            field = ALARMS.get(event.kind)
            alarm = field is not None and reader is not None and getattr(event, field) == reader
            (assertive if alarm else polite).append(said)
    if (others and view.my_turn) or (view.turn is None and (others or moved)):
        assertive.append(headline(view, now))
    return {"polite": polite, "assertive": assertive}
