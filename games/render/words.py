"""The text of game pages except the log: headlines, hints, times, and a table's options in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final, NamedTuple

from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import get_language

from accounts.zones import formatted
from common.readers_language import say
from common.say import N_
from games import rules
from games.bots import BOTS
from games.models.paces import DAY, HOUR, MINUTE
from games.queries import GameView

WEEK: Final = 7
TODAY: Final = N_("H:i")
THIS_WEEK: Final = N_("D H:i")
ANOTHER_DAY: Final = N_("j M H:i")
"""How `short_time` writes a time, in the letters of Django's filter `date`."""
WEEKDAY: Final = N_("D")
DAY_OF_MONTH: Final = N_("j M")
"""How `short_day` writes a day that is not today."""


def of_bot(names: Sequence[str], seat: int, reader: int | None) -> tuple[list[str], int | None]:
    """Return the names for a sentence about a move that a bot made for the owner of `seat`, and whom it calls "you"."""
    named = list(names)
    named[seat] = say.text("name", "your bot") if seat == reader else say.text("name", "{name}’s bot", name=names[seat])
    return named, None if seat == reader else reader


def cards(count: int) -> str:
    """Return `1 card` or `4 cards`."""
    return say.plural("cards", "{n} card", "{n} cards", count)


def card_name(card: rules.Card) -> str:
    """Return the name of a face."""
    return rules.card_name(card, say)


def color(letter: str | None) -> str:
    """Return the name of a colour given by its letter, as a text of its own. An empty string for None."""
    return rules.color_name(letter, say) if letter else ""


def color_in_sentence(letter: str) -> str:
    """Return the name of a colour given by its letter, as it is written inside a sentence."""
    return rules.color_word(letter, say)


def listed(words: Sequence[str]) -> str:
    """Join words as in `Ann`, `Ann and Bob`, `Ann, Bob and Chen`."""
    if len(words) < 2:
        return "".join(words)
    *first, last = words
    return say.text("list", "{first} and {last}", first=", ".join(first), last=last)


@lru_cache(maxsize=4096)
def table_url(page: str, code: str) -> str:
    """Return the address of a page of a table. `page` is the name of its URL pattern, such as `game` or `log`."""
    return reverse(page, args=[code])


@lru_cache(maxsize=4096)
def profile_url(username: str) -> str:
    """Return the address of a person's page, or an empty string for an empty username (a bot, a deleted account)."""
    return reverse("person", args=[username]) if username else ""


def short_time(at: datetime, now: datetime) -> str:
    """Format a time in the current time zone, as short as its distance from `now` allows.

    `14:05` today, `Sat 14:05` within a week, else `3 Dec 14:05`.
    """
    zone = timezone.get_current_timezone()
    return _short_time(at, _today(now, zone), zone, get_language(), (TODAY, THIS_WEEK, ANOTHER_DAY))


@lru_cache(maxsize=64)  # a page asks for each of its times
def _today(now: datetime, zone: tzinfo) -> date:
    return timezone.localtime(now, zone).date()


@lru_cache(maxsize=8192)  # a page shows mostly the times that the page before it showed
def _short_time(at: datetime, today: date, zone: tzinfo, _language: str | None, patterns: tuple[str, str, str]) -> str:
    """Format a time by the pattern for today, for the days within a week, or for others."""
    days = abs((timezone.localtime(at, zone).date() - today).days)
    return formatted(at, patterns[0 if days == 0 else 1 if days < WEEK else 2])


def short_day(at: datetime, now: datetime) -> str:
    """Format the day of a time, or the time if it is today: `14:05`, `Sat` within a week, else `3 Dec`."""
    zone = timezone.get_current_timezone()
    return _short_time(at, _today(now, zone), zone, get_language(), (TODAY, WEEKDAY, DAY_OF_MONTH))


def about_hour(at: datetime) -> str:
    """Format the full hour that is nearest to a time, in the current time zone: `08:00`."""
    local = timezone.localtime(at) + timedelta(minutes=30)
    return formatted(local.replace(minute=0), TODAY)


def due(deadline: datetime, now: datetime) -> str:
    """Format a deadline as `short_time` does. In UTC, which may be a zone that nobody chose, add the zone's name."""
    time = short_time(deadline, now)
    return say.text("time", "{time} UTC", time=time) if timezone.get_current_timezone_name() == "UTC" else time


def deadline_of(view: GameView) -> datetime | None:
    """Return the deadline that a page shows; None if there is none, or if only bots wait for the player on turn.

    A live table shows its deadlines to everybody, because they pass while the reader looks.
    """
    if view.turn is None or view.deadline is None:
        return None
    waits = any(not (seat.bot or seat.left) or seat.owner for seat in view.seats if seat.seat != view.turn)
    return view.deadline if waits or view.terms.live else None


def time_left(deadline: datetime, now: datetime) -> str:
    """Return `45 s left` or `14 h left`, rounded up to whole seconds. Keep in step with static/js/clock.js."""
    seconds = math.ceil((deadline - now).total_seconds())
    if seconds <= 0:
        return say.text("time", "time is up")
    return say.text("time", "{duration} left", duration=duration(seconds))


def exact(moment: datetime) -> str:
    """Format a moment in ISO 8601, to the millisecond, for scripts."""
    return moment.isoformat(timespec="milliseconds")


def waited(since: datetime, now: datetime, *, depth: int = 2) -> str:
    """Return the time since `since` in at most `depth` units, like `3 days, 4 hours` or `less than a minute`."""
    if now - since < timedelta(minutes=1):
        return say.text("time", "less than a minute")
    return timesince(since, now, depth=depth)


def duration(seconds: int) -> str:
    """Return a duration in one unit that suits it, or in two from two days on: `45 s`, `14 h` or `2 days 23 h`."""
    if seconds < 2 * MINUTE:
        return say.text("time", "{n} s", n=seconds)
    if seconds < 2 * HOUR:
        return say.text("time", "{n} min", n=say.number(seconds // MINUTE))
    if seconds <= 2 * DAY:
        return say.text("time", "{n} h", n=say.number(seconds // HOUR))
    days, hours = divmod(seconds // HOUR, 24)
    if not hours:
        return say.plural("time", "{n} day", "{n} days", days)
    return say.plural("time", "{n} day {hours} h", "{n} days {hours} h", days, hours=hours)


def table_name(view: GameView, *, inside: bool = False) -> str:
    """Return the name of a table, which is that of the player in its first seat. `inside`: inside of a sentence."""
    if not view.seats:  # a table closes when the last player leaves before the start
        return say.text("table", N_("a closed table") if inside else N_("A closed table"))
    if view.you == 0:
        return say.text("table", N_("your table") if inside else N_("Your table"))
    return say.text("table", "{name}’s table", name=view.seats[0].name)


def bot_note(name: str) -> str:
    """Return what stands beside the name of a bot in `BOTS`: `Careful bot`."""
    return say.text("seat", "{kind} bot", kind=say.text("bot", BOTS[name].label))


def round_cancelled(number: int) -> str:
    """Return what the log and "Since your last move" say of a round that staff voided."""
    return say.text("log", "Staff cancelled round {number}; it was dealt again.", number=number)


class Phrase(NamedTuple):
    """A text as it is shown, without a full stop, and for the ear, as a sentence. `spoken` is empty if both are one."""

    shown: str
    spoken: str = ""

    def form(self, *, spoken: bool) -> str:
        """Return the message that is spoken, or the one that is shown."""
        return self.spoken if spoken and self.spoken else self.shown


def headline(view: GameView, *, spoken: bool = False) -> str:
    """Return in a few words who must do what, or how the game ended. It is a heading, without a full stop.

    `spoken`: as a sentence, of a game that has started.
    """
    if view.view is None:
        return _headline_before_start(view)
    if view.turn is None:
        return _result(view, view.view, spoken)
    name = view.names[view.turn]
    if view.paused:
        return say.text("headline", PAUSED[view.turn == view.you].form(spoken=spoken), name=name)
    if view.view.buzz is not None:
        return _race_task(view, view.view.buzz)
    if view.my_turn:
        return _your_task(view, view.view, spoken) or say.text("headline", YOUR_TURN.form(spoken=spoken))
    return _their_task(view.view, say.text("headline", "Your bot") if view.turn == view.you else name, spoken)


PAUSED: Final = {
    True: Phrase(N_("Paused: your turn"), N_("Paused: your turn.")),
    False: Phrase(N_("Paused: {name}’s turn"), N_("Paused: {name}’s turn.")),
}
"""The headlines of a game that is paused, by whether it is the reader's turn."""
YOUR_TURN: Final = Phrase(N_("Your turn"), N_("Your turn."))


def task(view: GameView) -> str:
    """Return the headline for a place that says anyway whose turn it is: `Play or draw` in place of `Your turn`."""
    if _has_task(view) and view.view is not None:
        return _your_task(view, view.view, spoken=False) or say.text("headline", "Play or draw")
    return headline(view)


def spoken_task(view: GameView) -> str:
    """Return as a sentence what the reader, who is on turn, has to do. Empty if they can simply play."""
    assert view.view is not None
    return _your_task(view, view.view, spoken=True)


def turn_call(view: GameView) -> str:
    """Return `Your turn.` if the reader is on turn and the headline only says what to do, else an empty text."""
    if _has_task(view) and spoken_task(view):
        return say.text("headline", YOUR_TURN.spoken)
    return ""


def spoken_headline(view: GameView) -> str:
    """Return the headline as sentences, for the ear: `Your turn. Stack or take 8.`"""
    return " ".join(filter(None, (turn_call(view), headline(view, spoken=True))))


def _has_task(view: GameView) -> bool:
    return view.my_turn and view.view is not None and view.view.buzz is None


def _headline_before_start(view: GameView) -> str:
    if view.status == "void":
        return say.text("headline", "This table was closed before it started")
    free = view.players - len(view.seats)
    if free <= 0:
        return say.text("headline", "{table}: every seat is taken", table=table_name(view))
    return say.plural(
        "headline", "{table}: {n} seat is free", "{table}: {n} seats are free", free, table=table_name(view)
    )


class Win(NamedTuple):
    """Say who has won a single round, a match, and a round of a match."""

    game: Phrase
    match: Phrase
    round: Phrase


WINS: Final = {
    (True, False): Win(
        Phrase(N_("You win!")),
        Phrase(N_("You win the match!")),
        Phrase(N_("You win round {number}"), N_("You win round {number}.")),
    ),
    (True, True): Win(
        Phrase(N_("Your bot wins"), N_("Your bot wins.")),
        Phrase(N_("Your bot wins"), N_("Your bot wins.")),
        Phrase(N_("Your bot wins round {number}"), N_("Your bot wins round {number}.")),
    ),
    (False, False): Win(
        Phrase(N_("{name} wins"), N_("{name} wins.")),
        Phrase(N_("{name} wins the match"), N_("{name} wins the match.")),
        Phrase(N_("{name} wins round {number}"), N_("{name} wins round {number}.")),
    ),
    (False, True): Win(
        Phrase(N_("{name}’s bot wins"), N_("{name}’s bot wins.")),
        Phrase(N_("{name}’s bot wins"), N_("{name}’s bot wins.")),
        Phrase(N_("{name}’s bot wins round {number}"), N_("{name}’s bot wins round {number}.")),
    ),
}
"""By whether the reader has the seat that won, and whether a bot made the win for the owner of the seat."""
OUTLASTS_YOU: Final = Phrase(N_("{name} outlasts you"), N_("{name} outlasts you."))
OUTLASTS_ALL: Final = Phrase(N_("{name} outlasts you all"), N_("{name} outlasts you all."))
CALLED_OFF: Final = Phrase(N_("This game was called off"), N_("This game was called off."))
ROUND_OVER: Final = Phrase(N_("Round {number} is over"), N_("Round {number} is over."))


def _result(view: GameView, seen: rules.View, spoken: bool) -> str:
    seat = seen.winner if view.winner is None else view.winner
    name = "" if seat is None else view.names[seat]
    return say.text("headline", _result_phrase(view, seen, seat).form(spoken=spoken), name=name, number=view.round)


def _result_phrase(view: GameView, seen: rules.View, winner: int | None) -> Phrase:
    """Return how the game or the round ended. `winner` is the seat that has won it, None for nobody."""
    if view.status == "void":
        return CALLED_OFF
    if winner is None:
        return ROUND_OVER
    bot = view.seats[winner].owner
    win = WINS[winner == view.you, bot]
    if view.winner is None:
        return win.round
    others_out = len(seen.out) == len(view.seats) - 1
    if winner == view.you or bot or view.you is None or view.seats[view.you].left or not others_out:
        return win.match if view.options.is_match else win.game
    return OUTLASTS_YOU if len(view.seats) == 2 else OUTLASTS_ALL


def round_won(view: GameView, number: int, winner: int, *, by_bot: bool) -> str:
    """Return who has won a round, as a heading. `by_bot`: a bot made the win for the owner of the seat."""
    win = WINS[winner == view.you, by_bot]
    phrase = win.round if view.options.is_match else win.game
    return say.text("headline", phrase.shown, name=view.names[winner], number=number)


def _race_task(view: GameView, race: rules.Buzz) -> str:
    """Return what the reader does in a race for the buzzer, in which everybody acts at once (BUZZ-2), as a sentence."""
    if any(move.kind == "buzz" for move in view.legal):
        return say.text("headline", "BUZZ!")
    if view.you in race.pressed:
        return say.text("headline", "You pressed. Who is slowest?")
    return say.text("headline", "Who presses the buzzer last?")


class Task(NamedTuple):
    """Say what a player has to do: to the player, and to the others."""

    yours: Phrase
    theirs: Phrase


CHOOSE_COLOR: Final = Task(
    Phrase(N_("Pick the roulette’s colour"), N_("Pick the roulette’s colour.")),
    Phrase(N_("{name}: pick the roulette’s colour"), N_("{name}: pick the roulette’s colour.")),
)
DEBTS: Final = {
    (True, True): Task(
        Phrase(N_("Stack, challenge or take {n}"), N_("Stack, challenge {other} or take {n}.")),
        Phrase(N_("{name}: stack, challenge or take {n}"), N_("{name}: stack, challenge or take {n}.")),
    ),
    (True, False): Task(
        Phrase(N_("Stack or take {n}"), N_("Stack or take {n}.")),
        Phrase(N_("{name}: stack or take {n}"), N_("{name}: stack or take {n}.")),
    ),
    (False, True): Task(
        Phrase(N_("Challenge or take {n}"), N_("Challenge {other} or take {n}.")),
        Phrase(N_("{name}: challenge or take {n}"), N_("{name}: challenge or take {n}.")),
    ),
    (False, False): Task(
        Phrase(N_("Take {n}"), N_("Take {n}.")),
        Phrase(N_("{name}: take {n}"), N_("{name}: take {n}.")),
    ),
}
"""What is said of a player who owes cards, by whether the player can stack and can challenge `{other}`."""
DEBTS_BY_COLOR: Final = {
    True: Task(
        Phrase(N_("Challenge, or draw until {color} shows"), N_("Challenge {other} or draw until {color} shows.")),
        Phrase(
            N_("{name}: challenge, or draw until {color} shows"), N_("{name}: challenge, or draw until {color} shows.")
        ),
    ),
    False: Task(
        Phrase(N_("Draw until {color} shows"), N_("Draw until {color} shows.")),
        Phrase(N_("{name}: draw until {color} shows"), N_("{name}: draw until {color} shows.")),
    ),
}
"""The same for a debt that ends with a colour (BLUFF-5), by whether the player can challenge."""
DRAWN: Final = {
    (True, True): Phrase(N_("You drew {card}: play it"), N_("You drew {card}: play it.")),
    (True, False): Phrase(N_("You drew {card}: play or keep?")),
    (False, True): Phrase(N_("You drew a card: play it"), N_("You drew a card: play it.")),
    (False, False): Phrase(N_("You drew a card: play or keep?")),
}
"""What the reader does with a drawn card, by whether it is named (a mail names none) and whether it must be played."""
NOTHING_FITS: Final = Phrase(N_("Nothing fits: draw"), N_("Nothing fits: draw."))


def _your_task(view: GameView, seen: rules.View, spoken: bool) -> str:
    """Return what the reader, who is on turn, has to do. Empty if they can simply play."""
    facts: dict[str, str] = {}
    challenges = seen.challenge is not None
    if seen.challenge is not None:
        facts["other"] = view.names[seen.challenge]
    if seen.phase == "choose_color":
        phrase = CHOOSE_COLOR.yours
    elif seen.phase == "drawn":
        phrase = DRAWN[seen.drawn is not None, view.options.drawn_must_play]
        facts["card"] = card_name(seen.drawn) if seen.drawn else ""
    elif seen.pending is not None and not seen.pending.value:
        phrase = DEBTS_BY_COLOR[challenges].yours
        facts["color"] = color_in_sentence(seen.color or "")
    elif seen.pending is not None:
        phrase = DEBTS[view.playable_cards > 0, challenges].yours
        facts["n"] = say.number(seen.pending.total)
    elif any(move.kind == "play" for move in view.legal):
        return ""
    else:
        phrase = NOTHING_FITS
    return say.text("headline", phrase.form(spoken=spoken), **facts)


def _their_task(seen: rules.View, name: str, spoken: bool) -> str:
    challenges = seen.challenge is not None
    facts = {"name": name}
    if seen.phase == "choose_color":
        phrase = CHOOSE_COLOR.theirs
    elif seen.pending is not None and not seen.pending.value:
        phrase = DEBTS_BY_COLOR[challenges].theirs
        facts["color"] = color_in_sentence(seen.color or "")
    elif seen.pending is not None:
        phrase = DEBTS[seen.options.stacking != "off", challenges].theirs
        facts["n"] = say.number(seen.pending.total)
    elif seen.phase == "drawn":
        phrase = Phrase(N_("{name}: play the drawn card"), N_("{name}: play the drawn card."))
    else:
        phrase = Phrase(N_("{name}’s turn"), N_("{name}’s turn."))
    return say.text("headline", phrase.form(spoken=spoken), **facts)


def detail(view: GameView) -> str:
    """Return the sentences below the headline: what the reader can play, why they only watch, or how the winner won.

    May be empty.
    """
    seen = view.view
    if seen is None or view.status == "void":
        return ""
    if view.status != "playing":
        return _winning_points(view)
    if view.you is None:
        return say.text("detail", "You are watching.")
    if view.seats[view.you].left:
        return say.text("detail", "You have left this game.")
    if view.you in seen.out and view.options.is_match:
        return say.plural(
            "detail",
            "You’re out: {n} card. Next deal soon.",
            "You’re out: {n} cards. Next deal soon.",
            view.options.mercy_limit,
        )
    if view.you in seen.out:
        return say.plural(
            "detail",
            "You’re out: you reached {n} card.",
            "You’re out: you reached {n} cards.",
            view.options.mercy_limit,
        )
    if seen.phase == "buzz":
        return say.text("detail", "The slowest to press draws two cards.")
    if view.my_turn:
        return _what_is_playable(view, seen)
    return _what_fits_out_of_turn(view, seen)


def _winning_points(view: GameView) -> str:
    score = 0 if view.winner is None else view.seats[view.winner].score
    if not score:
        return ""
    if view.options.scoring == "winner":
        return say.plural("detail", "{n} point.", "{n} points.", score)
    return say.plural("detail", "{n} penalty point.", "{n} penalty points.", score)


def _what_fits_out_of_turn(view: GameView, seen: rules.View) -> str:
    """Return which cards the reader can play out of turn, or an empty text if none fits."""
    fits = [card_name(card) for card in view.plays]
    if any(rules.continues_straight(seen, card) for card in view.plays):
        return say.text("detail", "You can continue your straight.")
    if len(fits) == 1:
        return say.text("detail", "Jump in with {card}!", card=fits[0])
    if fits:
        return say.text("detail", "You can jump in with {cards}.", cards=listed(fits))
    return ""


def locked(view: GameView) -> str:
    """Return why a click on a card that does not fit does nothing out of turn, or an empty text if it would (INT-4)."""
    if not view.cost_of_miss:
        return ""
    return say.plural(
        "detail",
        "Locked: this card does not fit. Out of turn, a miss costs {n} point.",
        "Locked: this card does not fit. Out of turn, a miss costs {n} points.",
        view.cost_of_miss,
    )


def _what_is_playable(view: GameView, seen: rules.View) -> str:
    if seen.phase == "choose_color":
        return say.text("detail", "You turn over cards until that colour shows, and keep them all.")
    if seen.pending is not None:
        return what_answers(view, seen, seen.pending)
    if seen.phase == "drawn":
        return ""
    face = rules.face_of(seen.top)
    buzzers = view.options.buzzers != "off"
    if not seen.color:
        return say.text("detail", "You can play any card.")
    if face.color:
        plain = N_("You can play {color}, any {symbol} or any wild.")
        more = N_("You can play {color}, any {symbol} or any wild or buzzer.")
    else:
        plain, more = N_("You can play {color} or any wild."), N_("You can play {color} or any wild or buzzer.")
    symbol = rules.symbol_name(face.symbol, say)
    return say.text("detail", more if buzzers else plain, color=color_in_sentence(seen.color), symbol=symbol)


ANSWERS: Final = {
    ("same", False): (
        N_("{n} card can answer: the same draw card."),
        N_("{n} cards can answer: the same draw card."),
    ),
    ("same", True): (
        N_("{n} card can answer: the same draw card, or a Skip, Reverse or Wild to pass it on."),
        N_("{n} cards can answer: the same draw card, or a Skip, Reverse or Wild to pass it on."),
    ),
    ("family", False): (
        N_("{n} card can answer: +{value} or higher of this family."),
        N_("{n} cards can answer: +{value} or higher of this family."),
    ),
    ("family", True): (
        N_("{n} card can answer: +{value} or higher of this family, or a Skip, Reverse or Wild to pass it on."),
        N_("{n} cards can answer: +{value} or higher of this family, or a Skip, Reverse or Wild to pass it on."),
    ),
    ("any", False): (
        N_("{n} card can answer: +{value} or higher."),
        N_("{n} cards can answer: +{value} or higher."),
    ),
    ("any", True): (
        N_("{n} card can answer: +{value} or higher, or a Skip, Reverse or Wild to pass it on."),
        N_("{n} cards can answer: +{value} or higher, or a Skip, Reverse or Wild to pass it on."),
    ),
}
"""What answers a draw card, by the options `stacking` and `advanced_stacking` (RESP-1, RESP-3)."""


def what_answers(view: GameView, seen: rules.View, pending: rules.Pending) -> str:
    """Return in sentences how the reader, who owes cards, can respond (RESP-1, RESP-3, RESP-6, BLUFF-1)."""
    told = []
    if pending.value and view.options.stacking != "off":
        if fits := view.playable_cards:
            message = ANSWERS[view.options.stacking, view.options.advanced_stacking]
            told.append(say.form("detail", message, fits, value=pending.value))
        else:
            told.append(say.text("detail", "None of your cards can answer."))
    elif seen.challenge is None:
        told.append(say.text("detail", "Nothing answers these cards."))
    if seen.challenge is not None:
        told.append(say.text("detail", "You can challenge {name}.", name=view.names[seen.challenge]))
    return " ".join(told)


def stack_in_words(view: GameView, seen: rules.View) -> str:
    """Return who owes what, and how they can respond, for the ear."""
    if seen.pending is None:
        return say.text("stack", "There is no stack.")
    yours, name, total = seen.turn == view.you, view.names[seen.turn], seen.pending.total
    if not seen.pending.value:
        pattern = N_("You draw until {color} shows.") if yours else N_("{name} draws until {color} shows.")
        told = [say.text("stack", pattern, name=name, color=color_in_sentence(seen.color or ""))]
    elif yours:
        told = [say.plural("stack", "You owe {n} card.", "You owe {n} cards.", total)]
    else:
        told = [say.plural("stack", "{name} owes {n} card.", "{name} owes {n} cards.", total, name=name)]
    if yours:
        told.append(what_answers(view, seen, seen.pending))
    elif seen.challenge is not None and seen.challenge == view.you:
        told.append(say.text("stack", "{name} can challenge you.", name=name))
    elif seen.challenge is not None:
        told.append(say.text("stack", "{name} can challenge {other}.", name=name, other=view.names[seen.challenge]))
    return " ".join(told)


def what_leaving_does(view: GameView) -> str:
    """Return what happens to the reader and the others if the reader resigns now (LEAVE-1, END-3, END-4, SCORE-2)."""
    staying = [seat for seat in view.seats if seat.seat != view.you and not seat.left]
    match, never = view.options.is_match, say.text("leaving", "You can’t come back.")
    # In a match, players who are out of this round play in the next.
    others = [seat.name for seat in staying if match or not seat.out]
    if name := winner_of_all_by_leaving(view):
        won = N_("{name} wins the match.") if match else N_("{name} wins the game.")
        return " ".join((say.text("leaving", won, name=name), never))
    aside = say.text(
        "leaving",
        N_("Your cards are set aside, and you are out for the rest of the match.")
        if match
        else N_("Your cards are set aside, and you are out for the rest of the round."),
    )
    if winner := _winner_by_leaving(view):
        one = N_("{names} continues the match unless this round decides it.")
        many = N_("{names} continue the match unless this round decides it.")
        won = say.text("leaving", "{name} wins this round.", name=winner)
        return " ".join((won, aside, say.plural("leaving", one, many, len(others), names=listed(others)), never))
    one, many = N_("{names} plays on."), N_("{names} play on.")
    return " ".join((aside, say.plural("leaving", one, many, len(others), names=listed(others)), never))


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
    rounds, target = view.options.rounds, say.number(view.target)
    if not view.options.is_match:
        return say.text("length", "a single round")
    if not view.round and not rounds:
        return say.text("length", "to {target}", target=target)
    if not view.round and view.target:
        return say.plural("length", "{n} round, to {target}", "{n} rounds, to {target}", rounds, target=target)
    if not view.round:
        return say.plural("length", "{n} round", "{n} rounds", rounds)
    if not rounds:
        return say.text("length", "round {number}, to {target}", number=view.round, target=target)
    deals = rounds + len(view.cancelled)  # a void round keeps its number, so the match has one more
    pattern = N_("round {number} of {rounds}, to {target}") if view.target else N_("round {number} of {rounds}")
    return say.text("length", pattern, number=view.round, rounds=deals, target=target)


def match_length(view: GameView) -> str:
    """Return how long a game is, as a sentence: `A single round.` or `A match to 500 points or of 3 rounds.`"""
    rounds = view.options.rounds
    if not view.options.is_match:
        return say.text("length", "A single round.")
    if not rounds:
        return say.text("length", "A match to {target} points.", target=say.number(view.target))
    if not view.target:
        return say.plural("length", "A match of {n} round.", "A match of {n} rounds.", rounds)
    one, many = N_("A match to {target} points or of {n} round."), N_("A match to {target} points or of {n} rounds.")
    return say.plural("length", one, many, rounds, target=say.number(view.target))


def differences(view: GameView) -> str:
    """Return how a table's rules differ from its preset, with a sentence for each option. Empty if they do not.

    The length of the game makes no difference.
    """
    return _differences(view.preset, view.options, get_language())


@lru_cache(maxsize=256)
def _differences(preset: str, options: rules.Options, _language: str | None) -> str:
    changed = rules.options_diff(preset, options)
    told = [
        spec.sentence(changed[spec.name], say)
        for spec in rules.OPTIONS
        if spec.name in changed and spec.name not in ("target", "rounds")
    ]
    if not told:
        return ""
    return " ".join(
        (say.text("table", "Different from the {preset} rules:", preset=rules.PRESET_TITLES[preset]), *told)
    )


AFTER_MISSES: Final = {
    "bot": (
        N_("After a missed turn, a bot takes the seat until its owner is back."),
        N_("After {n} missed turns in a row, a bot takes the seat until its owner is back."),
    ),
    "leave": (
        N_("After a missed turn, the player leaves the game."),
        N_("After {n} missed turns in a row, the player leaves the game."),
    ),
}
"""What happens to a player who misses turns, by `Game.after_misses` (CLOCK-3)."""


def options_prose(view: GameView) -> str:
    """Return a table's options as sentences. Rule options are named only if they differ from the preset."""
    pace, deck = view.terms, view.options.rules.deck
    parts = [
        say.text("table", "{preset} rules, {n} cards.", preset=rules.PRESET_TITLES[view.preset], n=deck.size),
        match_length(view),
        say.text("table", "{pace} pace: {help}.", pace=pace.label, help=pace.help),
    ]
    if not view.vacations:
        parts.append(say.text("table", "No vacations at this table."))
    if view.public:
        parts.append(say.text("table", "Anyone can watch."))
    else:
        parts.append(say.text("table", "Only people with the link can see it."))
    if not view.programs:
        parts.append(say.text("table", "No programs play here, except the site’s own bots."))
    parts.append(say.form("table", AFTER_MISSES[view.after_misses], view.misses_allowed))
    if any(seat.bot for seat in view.seats) and view.bot_pause:
        parts.append(say.text("table", "Bots wait {seconds} s before they move.", seconds=format(view.bot_pause, "g")))
    elif any(seat.bot for seat in view.seats):
        parts.append(say.text("table", "Bots move at once."))
    return " ".join(filter(None, (*parts, differences(view), rules.warning(view.options))))
