"""The rows of the log: events as sentences that call the reader "you"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from django.utils.text import capfirst
from django.utils.translation import get_language

from common.readers_language import say
from games import rules
from games.queries import GameView, LogLine
from games.queries.former_holders import former_player
from games.render.words import of_bot, short_time


def sentence_case(text: str) -> str:
    """Return a sentence with a capital letter, unless it starts with a name that people chose."""
    return capfirst(text) if text.startswith(("your bot ", "your bot:", former_player())) else text


@lru_cache(maxsize=8192)  # most lines of a page were on the page before
def _sentence(event: rules.Event, reader: int | None, names: tuple[str, ...], short: bool, language: str | None) -> str:
    """Return an event in words. The arguments decide them: `language` is the active one."""
    return sentence_case(rules.sentence(event, reader, names, short=short, say=say))


def sentences(view: GameView, line: LogLine, *, short: bool = False) -> list[str]:
    """Return the words of each event of a line of the log, or short ones to be spoken: a sentence or more.

    They name the people who had the seats then. If a bot played for the owner of the seat, or in place of a removed
    player, they name the bot, for the owner too. What the clock or a standing order did says so before it (short
    words only the reader's order), and a removal by staff says so instead.
    """
    names, reader = told_to(view, line)
    language = get_language()
    said = [_sentence(event, reader, tuple(names), short, language) for event in line.events]
    if line.by_staff:
        said = [
            say.text("log", "Staff took {name} out of the game.", name=names[event.seat])
            if event.kind == "left"
            else text
            for event, text in zip(line.events, said, strict=True)
        ]
    acted = say.text("log", "Time ran out.") if line.by_clock else ""
    if line.by_order and not (short and line.seat != reader):
        acted = say.text("log", "A standing order plays.")
    if said and acted:
        said[0] = " ".join((acted, said[0]))
    return said


def told_to(view: GameView, line: LogLine) -> tuple[list[str], int | None]:
    """Return the names of the seats in a line of the log, and the seat that it calls "you", if any.

    Nobody is "you" if the reader's seat was another person's then, or if a bot played for the reader.
    """
    names = [line.former.get(seat, name) for seat, name in enumerate(view.names)]
    reader = None if view.you in line.former else view.you
    if line.by_bot:
        return of_bot(names, line.seat, reader)
    return names, reader


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
    """A note in the log after move `version`, such as a pause. `ends_round`: the event ended the round.

    `in_news`: “Since your last move” says it, too. `said`: staff said it to the players, who see that also while it is
    not their turn. `seats_reader`: it gave the reader a seat that was not theirs before. `pauses`: it is about a pause
    by staff, or is what they said with it.
    """

    version: int
    at: datetime
    text: str
    ends_round: bool = False
    in_news: bool = False
    seats_reader: bool = False
    said: bool = False
    pauses: bool = False


def log_of(view: GameView, lines: Sequence[LogLine], now: datetime, notes: Sequence[LogNote] = ()) -> list[LogRow]:
    """Return the rows of the log, newest first, with each note after its move. Give both lists oldest first."""
    rows: list[LogRow] = []
    newer, left = view.round, list(notes)
    for line in reversed(lines):
        after: list[LogNote] = []
        while left and left[-1].version >= line.n:
            after.append(left.pop())
        heading = say.text("log", "Round {number}", number=line.round) if newer != line.round else ""
        newer = line.round
        if heading:  # notes up to the one that ended the round belong to that round
            own = next((n for n, note in enumerate(after) if note.ends_round), len(after))
            rows += [_note_row(note, now) for note in after[:own]]
            after = after[own:]
        found = [_note_row(note, now) for note in after]
        text, at = " ".join(sentences(view, line)), line.at.isoformat(timespec="seconds")
        found.append(LogRow(line.n, text, at, short_time(line.at, now), line.is_of(view.you)))
        if heading:
            found[0] = found[0]._replace(heading=heading)
        rows += found
    return [*rows, *(_note_row(note, now) for note in reversed(left))]


def said_with_pause(notes: Sequence[LogNote]) -> str:
    """Return what staff said to the players with their newest pause, or ""."""
    newest = next((n for n, note in reversed(list(enumerate(notes))) if note.pauses), None)
    return "" if newest is None or not notes[newest].said else notes[newest].text


def _note_row(note: LogNote, now: datetime) -> LogRow:
    return LogRow(0, note.text, note.at.isoformat(timespec="seconds"), short_time(note.at, now))


def lines_since_your_move(view: GameView, lines: Sequence[LogLine]) -> Sequence[LogLine]:
    """Return the lines since the reader's last move, or since the reader got the seat, oldest first."""
    own = [n for n, line in enumerate(lines) if line.is_of(view.you) or view.you in line.former]
    return lines[own[-1] + 1 :] if own else lines


def new_cards(view: GameView, lines: Sequence[LogLine]) -> list[str]:
    """Return the cards that the reader has drawn since they last played one, as far as these lines tell them."""
    found: list[str] = []
    for line in reversed(lines):
        own = [event for event in line.events if event.seat == view.you and view.you not in line.former]
        if line.round != view.round or any(event.kind == "played" for event in own):
            break
        found += [card for event in own if event.kind in ("drew", "turned_over") for card in event.cards or ()]
    return found
