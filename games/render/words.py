"""The text of game pages except the log: headlines, hints, times, and a table's options in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final

from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.timesince import timesince

from accounts.zones import day_and_time
from games import rules
from games.models import Game
from games.models.paces import DAY, HOUR, MINUTE
from games.queries import GameView, SeatView

WEEK: Final = 7


def counted(count: int, one: str, many: str = "") -> str:
    """Return `1 game` or `3 games`. Give `many` where the plural is not `one` with an s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def points_unit(options: rules.Options) -> str:
    """Return `point`, or `penalty point` where the fewest points win (SCORE-4)."""
    return "point" if options.scoring == "winner" else "penalty point"


def of_bot(names: Sequence[str], seat: int, reader: int | None) -> tuple[list[str], int | None]:
    """Return the names for a sentence about a move that a bot made for the owner of `seat`, and whom it calls "you"."""
    named = list(names)
    named[seat] = "your bot" if seat == reader else f"{possessive(names[seat])} bot"
    return named, None if seat == reader else reader


def who_wins(names: Sequence[str], seat: int, reader: int | None, *, bot: bool) -> str:
    """Return the beginning of `You win the game`. `bot`: a bot made the win for the owner of the seat."""
    if seat == reader:
        return "Your bot wins" if bot else "You win"
    return f"{possessive(names[seat])} bot wins" if bot else f"{names[seat]} wins"


def cards(count: int) -> str:
    """Return `1 card` or `4 cards`."""
    return counted(count, "card")


def color(letter: str | None) -> str:
    """Return the name of a colour given by its letter, or an empty string for None."""
    return rules.color_name(letter) if letter else ""


def listed(words: Sequence[str]) -> str:
    """Join words as in `Ann`, `Ann and Bob`, `Ann, Bob and Chen`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


@lru_cache(maxsize=4096)
def table_url(page: str, code: str) -> str:
    """Return the address of a page of a table. `page` is the name of its URL pattern, such as `game` or `log`."""
    return reverse(page, args=[code])


@lru_cache(maxsize=4096)
def profile_url(username: str) -> str:
    """Return the address of a person's page, or an empty string for an empty username (a bot, a deleted account)."""
    return reverse("person", args=[username]) if username else ""


def possessive(name: str) -> str:
    return f"{name}’s"


def short_time(at: datetime, now: datetime) -> str:
    """Format a time in the current time zone, as short as its distance from `now` allows.

    `14:05` today, `Sat 14:05` within a week, else `3 Dec 14:05`.
    """
    zone = timezone.get_current_timezone()
    return _short_time(at, _today(now, zone), zone)


@lru_cache(maxsize=64)  # a page asks for each of its times
def _today(now: datetime, zone: tzinfo) -> date:
    return timezone.localtime(now, zone).date()


@lru_cache(maxsize=8192)  # a page shows mostly the times that the page before it showed
def _short_time(at: datetime, today: date, zone: tzinfo) -> str:
    here = timezone.localtime(at, zone)
    days = abs((here.date() - today).days)
    day = "" if days == 0 else here.strftime("%a ") if days < WEEK else f"{here.day} {here:%b} "
    return f"{day}{here:%H:%M}"


def due(deadline: datetime, now: datetime) -> str:
    """Format a deadline as `short_time` does. In UTC, which may be a zone that nobody chose, add the zone's name."""
    zone = " UTC" if timezone.get_current_timezone_name() == "UTC" else ""
    return f"{short_time(deadline, now)}{zone}"


def time_left(deadline: datetime, now: datetime) -> str:
    """Return `45 s left` or `14 h left`, rounded up to whole seconds. Keep in step with static/js/clock.js."""
    seconds = math.ceil((deadline - now).total_seconds())
    if seconds <= 0:
        return "time is up"
    return f"{duration(seconds)} left"


def exact(moment: datetime) -> str:
    """Format a moment in ISO 8601, to the millisecond, for scripts."""
    return moment.isoformat(timespec="milliseconds")


def waited(since: datetime, now: datetime, *, depth: int = 2) -> str:
    """Return the time since `since` in at most `depth` units, like `3 days, 4 hours` or `less than a minute`."""
    return timesince(since, now, depth=depth) if now - since >= timedelta(minutes=1) else "less than a minute"


def inside(sentence: str) -> str:
    """Return a sentence with a small first letter, for use inside another one."""
    return sentence[:1].lower() + sentence[1:]


def in_one_unit(minutes: int) -> str:
    """Return an exact time in the largest unit that it has only whole ones of: `2 hours`, `90 minutes` or `3 days`."""
    for unit, word in ((DAY // MINUTE, "day"), (HOUR // MINUTE, "hour")):
        if minutes and minutes % unit == 0:
            return counted(minutes // unit, word)
    return counted(minutes, "minute")


def duration(seconds: int) -> str:
    """Return a duration in one unit that suits it, or in two from two days on: `45 s`, `14 h` or `2 days 23 h`."""
    for limit, unit, word in ((2 * MINUTE, 1, "s"), (2 * HOUR, MINUTE, "min"), (2 * DAY + 1, HOUR, "h")):
        if seconds < limit:
            return f"{seconds // unit} {word}"
    days, hours = divmod(seconds // HOUR, 24)
    return f"{days} days {hours} h" if hours else f"{days} days"


def table_name(view: GameView, *, inside: bool = False) -> str:
    """Return the name of a table, which is that of the player in its first seat. `inside`: inside of a sentence."""
    if not view.seats:  # a table closes when the last player leaves before the start
        return "a closed table" if inside else "A closed table"
    if view.you == 0:
        return "your table" if inside else "Your table"
    return f"{possessive(view.seats[0].name)} table"


ANSWERS: Final = {
    "off": ("", ""),
    "same": ("the same draw card", "stack the same draw card"),
    "family": ("a draw card of the same family, +{value} or higher", "stack the same family, +{value} or higher"),
    "any": ("a draw card of +{value} or higher", "stack +{value} or higher"),
}
"""What answers a draw card, by the option `stacking`, in a sentence and in a note; empty if nothing does."""


def round_cancelled(number: int) -> str:
    """Return what the log, "Since your last move" and notices say of a round that staff voided."""
    return f"Staff cancelled round {number}; it was dealt again."


def headline(view: GameView, now: datetime, *, zone: str = "") -> str:
    """Return one sentence that says who must do what and by when, or how the game ended.

    With the reader's `zone`, the sentence is for a mail, which may be read on another day.
    """
    if view.view is None and view.status == "void":
        return "This table was closed before it started."
    if view.view is None:
        return f"{table_name(view)}: {free_seats(view.players - len(view.seats))}."
    if view.status == "void":
        return "This game was called off."
    if view.turn is None:
        return _result(view)
    if view.paused:
        return f"Paused: {'your' if view.turn == view.you else possessive(view.names[view.turn])} turn."
    by = ""
    if view.deadline is not None and zone:
        by = f", by {day_and_time(view.deadline, zone)}"
    elif view.deadline is not None and view.deadline - now > timedelta(seconds=2 * MINUTE):
        by = f", by {due(view.deadline, now)}"
    if view.view.buzz is not None:
        return f"Buzzer: {_race_task(view, view.view.buzz)}{by}."
    if view.my_turn:
        return f"Your turn: {_your_task(view, view.view)}{by}."
    if view.turn == view.you:
        return f"Your bot’s turn: {_their_task(view.view)}."
    return f"{possessive(view.names[view.turn])} turn: {_their_task(view.view)}{by}."


def free_seats(count: int) -> str:
    return f"{counted(count, 'seat is', 'seats are')} free" if count > 0 else "every seat is taken"


def _result(view: GameView) -> str:
    seen = view.view
    assert seen is not None
    if view.winner is None:
        winner, what = seen.winner, f"round {view.round}"
    else:
        winner, what = view.winner, "the match" if view.options.is_match else "the game"
    if winner is None:
        return f"Round {view.round} is over."
    seat = view.seats[winner]
    points = f" with {seat.score:,} {points_unit(view.options)}{'' if seat.score == 1 else 's'}" if seat.score else ""
    return f"{who_wins(view.names, winner, view.you, bot=seat.owner)} {what}{points}."


def _race_task(view: GameView, race: rules.Buzz) -> str:
    """Return what the reader does in a race for the buzzer, in which everybody acts at once (BUZZ-2)."""
    if any(move.kind == "buzz" for move in view.legal):
        return "press it now"
    return "wait for the others to press it" if view.you in race.pressed else "everybody presses it now"


def _your_task(view: GameView, seen: rules.View) -> str:
    if seen.phase == "choose_color":
        return "choose a colour for the roulette"
    if seen.phase == "drawn" and seen.drawn is not None:
        name = rules.card_name(seen.drawn)
        return f"play the {name} you drew" + ("" if view.options.drawn_must_play else ", or keep it")
    if seen.pending is not None:
        if not seen.pending.value:
            return _either(_challenge(view, seen), until_the_color(seen))
        return ", and can ".join([f"you owe {cards(seen.pending.total)}", *_challenge(view, seen)])
    kinds = {move.kind for move in view.legal}
    if "play" not in kinds:
        return "draw (no playable card)"
    return "play a card or draw" if "draw" in kinds else "play a card"


def _their_task(seen: rules.View) -> str:
    if seen.phase == "choose_color":
        return "choose a colour for the roulette"
    if seen.pending is not None:
        ways = ["answer"] if seen.options.stacking != "off" and seen.pending.value else []
        ways += ["challenge"] if seen.challenge is not None else []
        payment = f"take {cards(seen.pending.total)}" if seen.pending.value else until_the_color(seen)
        return f"{', '.join(ways)} or {payment}" if ways else payment
    return "play the drawn card" if seen.phase == "drawn" else "play or draw"


def detail(view: GameView) -> str:
    """Return the sentence below the headline: what the reader can play, or why they only watch. May be empty."""
    seen = view.view
    if seen is None or view.status != "playing":
        return ""
    if view.you is None:
        return "You are watching."
    if view.seats[view.you].left:
        return "You have left this game."
    if view.you in seen.out:
        return "You are out until the next deal." if view.options.is_match else "You are out of this round."
    if seen.phase == "buzz":
        pressed = listed([view.names[seat] for seat in seen.buzz.pressed]) if seen.buzz else ""
        return "The slowest to press draws two cards." + (f" Pressed: {pressed}." if pressed else "")
    if view.my_turn:
        return _what_is_playable(view, seen)
    return _what_fits_out_of_turn(view, seen, view.seats[view.you])


def _what_fits_out_of_turn(view: GameView, seen: rules.View, mine: SeatView) -> str:
    """Return which cards the reader can play out of turn, and why no others can be chosen (INT-4)."""
    fits = ""
    if any(move.kind == "play" for move in view.legal):
        in_straight = seen.run is not None and seen.run.seat == view.you
        fits = "You can continue your straight." if in_straight else "You can intercept the top card."
    if not view.cost_of_miss or not mine.cards or mine.bot or view.paused:
        return fits
    points = counted(view.cost_of_miss, "point")
    if fits:
        return f"{fits} Your other cards are locked: a miss costs {points}."
    return f"Your cards are locked: none fits out of turn, and a miss costs {points}."


def locked(view: GameView) -> str:
    """Return why a click on a card that does not fit does nothing out of turn, or an empty text if it would (INT-4)."""
    cost = view.cost_of_miss
    return f"Locked: this card does not fit. Out of turn, a miss costs {counted(cost, 'point')}." if cost else ""


def _what_is_playable(view: GameView, seen: rules.View) -> str:
    if seen.phase == "choose_color":
        return "You turn over cards until that colour shows, and keep them all."
    if seen.pending is not None:
        return _what_answers(view, seen, seen.pending)
    if seen.phase == "drawn":
        return ""
    face = rules.face_of(seen.top)
    hue = color(seen.color)
    wild = "any wild" if view.options.buzzers == "off" else "any wild or buzzer"
    if not face.color:
        return f"You can play {hue.lower()} or {wild}." if hue else "You can play any card."
    symbol = face.name.removeprefix(f"{hue} ") if face.number is None else face.number
    return f"You can play {hue.lower()}, any {symbol} or {wild}."


def until_the_color(seen: rules.View) -> str:
    """Return how a debt without a number is paid: `draw until pink shows` (BLUFF-5)."""
    return f"draw until {color(seen.color).lower()} shows"


def owed_and_answers(view: GameView, seen: rules.View, pending: rules.Pending) -> tuple[str, str]:
    """Return what a debt owes, and a note on how to respond to it (RESP-1, RESP-6, BLUFF-1)."""
    if not pending.value:
        return "Cards", _either(_challenge(view, seen), until_the_color(seen))
    how = ANSWERS[view.options.stacking][1].format(value=pending.value)
    ways = [*([how] if how else []), *_challenge(view, seen)]
    return str(pending.total), _either(ways, f"take {pending.total}")


def _what_answers(view: GameView, seen: rules.View, pending: rules.Pending) -> str:
    """Return in words what the player who owes can do (RESP-1, RESP-3, RESP-6, BLUFF-1)."""
    how = ANSWERS[view.options.stacking][0].format(value=pending.value) if pending.value else ""
    held, fits = len(seen.hand or ()), view.playable_cards
    answers = [f"stack {how}"] if how and fits else []
    if answers and view.options.advanced_stacking:
        answers.append("pass them on with a Skip, Reverse or Wild")
    ways = [*answers, *_challenge(view, seen)]
    count = f"{fits or 'None'} of your {cards(held)} can answer" if how else ""
    if not ways:
        payment = f"take {pending.total}" if pending.value else until_the_color(seen)
        return f"{count or 'Nothing answers these cards'}. {capfirst(payment)}."
    text = _either(ways, "take them all")
    return ". ".join(filter(None, (count, f"{capfirst(text)}.")))


def _challenge(view: GameView, seen: rules.View) -> list[str]:
    """Return that the play can be challenged, as a list of one; an empty list if it cannot (BLUFF-1)."""
    if seen.challenge is None:
        return []
    return [f"challenge {'you' if seen.challenge == view.you else view.names[seen.challenge]}"]


def _either(ways: Sequence[str], last: str) -> str:
    """Join alternatives as in `stack, challenge Ann, or take 4`."""
    return ", or ".join(filter(None, (", ".join(ways), last)))


def what_leaving_does(view: GameView) -> str:
    """Return what happens to the reader and the others if the reader resigns now (LEAVE-1, END-3, END-4, SCORE-2)."""
    staying = [seat for seat in view.seats if seat.seat != view.you and not seat.left]
    # In a match, players who are out of this round play in the next.
    others = listed([seat.name for seat in staying if view.options.is_match or not seat.out])
    winner = _winner_by_leaving(view)
    until = "the match" if view.options.is_match else "the round"
    if name := winner_of_all_by_leaving(view):
        return f"{name} wins {'the match' if view.options.is_match else 'the game'}. You can’t come back."
    aside = f"Your cards are set aside, and you are out for the rest of {until}."
    if winner:
        return (
            f"{winner} wins this round. {aside} {others} continue the match unless this round decides it."
            " You can’t come back."
        )
    return f"{aside} {others} play on. You can’t come back."


def winner_of_all_by_leaving(view: GameView) -> str:
    """Return the name of the player who wins the game if the reader leaves now, or an empty string if it goes on."""
    staying = [seat for seat in view.seats if seat.seat != view.you and not seat.left]
    if len(staying) == 1:
        return _winner_by_leaving(view) or staying[0].name
    return "" if view.options.is_match else _winner_by_leaving(view)


def _winner_by_leaving(view: GameView) -> str:
    """Return the name of the player who wins the round if the reader leaves now, or an empty string."""
    assert view.view is not None
    winner = rules.winner_by_leaving(view.view)
    return "" if winner is None else view.names[winner]


def crumb(view: GameView) -> str:
    """Return the table's name, its rules and how far its game is: `Ann’s table · Flip · round 2, to 500`."""
    return f"{table_name(view)} · {rules.PRESET_TITLES[view.preset]} · {length(view)}"


def length(view: GameView) -> str:
    """Return the length of a game: `a single round`, `to 500` before the first deal, then `round 2, to 500`.

    A match that a number of rounds may end is `round 2 of 3` or `round 2 of 3, to 500`.
    """
    if not view.options.is_match:
        return "a single round"
    # A void round keeps its number, so the match has one more.
    rounds, deals = view.options.rounds, view.options.rounds + len(view.cancelled)
    of = f" of {deals}" if rounds else ""
    now = f"round {view.round}{of}" if view.round else counted(rounds, "round") if rounds else ""
    return ", ".join(filter(None, (now, f"to {view.target:,}" if view.target else "")))


def match_length(view: GameView) -> str:
    """Return how long a game is, in a sentence: `a single round`, `a match to 500 points or of 3 rounds`."""
    if not view.options.is_match:
        return "a single round"
    ends = [f"to {view.target:,} points"] if view.target else []
    if view.options.rounds:
        ends.append(f"of {counted(view.options.rounds, 'round')}")
    return f"a match {' or '.join(ends)}"


def differences(view: GameView) -> str:
    """Return how a table's rules differ from its preset, with a sentence for each option. Empty if they do not.

    The length of the game makes no difference.
    """
    return _differences(view.preset, view.options)


@lru_cache(maxsize=256)
def _differences(preset: str, options: rules.Options) -> str:
    changed = rules.options_diff(preset, options)
    said = [
        spec.sentence(changed[spec.name])
        for spec in rules.OPTIONS
        if spec.name in changed and spec.name not in ("target", "rounds")
    ]
    return f"Different from the {rules.PRESET_TITLES[preset]} rules: {' '.join(said)}" if said else ""


def options_prose(view: GameView) -> str:
    """Return a table's options as sentences. Rule options are named only if they differ from the preset."""
    pace = view.terms
    deck = view.options.rules.deck
    parts = [
        f"{rules.PRESET_TITLES[view.preset]} rules, {deck.size} cards, {match_length(view)}.",
        f"{pace.label} pace: {pace.help}.",
        "Anyone can watch." if view.public else "Only people with the link can see it.",
    ]
    if not view.programs:
        parts.append("No programs play here, except the site’s own bots.")
    many = f"{view.misses_allowed} missed turns in a row" if view.misses_allowed > 1 else "one missed turn"
    then = Game.AfterMisses(view.after_misses).label
    parts.append(f"After {many}, {inside(then)}.")
    if any(seat.bot for seat in view.seats):
        parts.append(f"Bots wait {view.bot_pause:g} s before they move." if view.bot_pause else "Bots move at once.")
    parts += [differences(view), rules.warning(view.options)]
    return " ".join(filter(None, parts))
