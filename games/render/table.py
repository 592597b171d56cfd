"""The parts of a game page with cards and players: hand, piles, players, scores, hands at the end of a round."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games import rules
from games.models.paces import MINUTE
from games.queries import GameView, SeatView
from games.render.mercy import Mercy, mercy_of
from games.render.straight import BETWEEN, opening_cards
from games.render.words import (
    Phrase,
    about_hour,
    bot_note,
    card_name,
    cards,
    color,
    color_in_sentence,
    deadline_of,
    due,
    locked,
    profile_url,
    short_day,
    time_left,
)


class HandCard(NamedTuple):
    """A card in the reader's hand. `on`: the reader is playing it. `focus`: it gets the keyboard focus.

    `move` is the move that a click makes: complete if there is only one way to play the card.

    `side` is the side in force, None if the deck has one side. `opens`: a click does not play it yet, but asks for the
    next card of its straight. `inert`: a click does nothing, because it could cost points (INT-4). `asks`: a chooser
    opens before the card is played.

    `race` are the CSS classes of a card that can be played out of turn now, and `label` what stands on it, both empty
    for others. `fit` says on the reader's turn whether the card fits and why not, in the rows of the hand as a list.
    """

    text: str
    name: str
    playable: bool
    on: bool
    focus: bool
    side: str | None
    move: str
    opens: bool = False
    inert: bool = False
    race: str = ""
    label: str = ""
    asks: bool = False
    fit: str = ""


class Sort(NamedTuple):
    """A link that sorts the hand. `on`: the hand is in this order. `key` is its keyboard shortcut, or empty."""

    id: str
    label: str
    url: str
    on: bool
    key: str


class OwnHand(NamedTuple):
    """The reader's hand. `note` is the number of cards, and on the reader's turn how many are playable.

    `on_turn`: the reader is on turn. `tens` and `ones` are the digits of the number of cards, for the style sheet.
    `races`: cards can be played out of turn at this table. `locked` says why a click on some cards does nothing.
    `slow`: turns can last over an hour. `confirm` is what the reader is asked about before a move (`User.Confirm`).
    """

    note: str
    cards: Sequence[HandCard]
    sorts: tuple[Sort, ...]
    on_turn: bool
    tens: int
    ones: int
    races: bool
    locked: str
    slow: bool
    confirm: str


class DueTime(NamedTuple):
    """A deadline: its time in ISO 8601, the time left in words and in seconds, and in a `note` when it is.

    Shortly before the deadline the note is empty.
    """

    iso: str
    left: str
    seconds: float
    note: str


class LowerCard(NamedTuple):
    """A card of the discard pile below its top card. `tilt` is how it lies, from 0 to `TILTS` - 1."""

    text: str
    tilt: int


class Stage(NamedTuple):
    """What lies on the table.

    `color` is the letter of the current colour, None if there is none, and `color_name` says so. `colors` are the
    letters of the colours in play. `side` is the side in force, None if the deck has one side. `direction` is that of
    play, and `following` says who is next, empty if nobody else is. `owed` is what the stack owes, empty without one,
    `owed_by` says who owes it, and `tension` is how many of the steps of `TENSION` it has reached. `swaps` is True if 7
    swaps hands and 0 passes them here. `lower` are the cards just below the top card, the lowest first. `thickness` is
    the height of the draw pile in layers, 0 if it is empty. `backs`: the reader sees the hidden faces of the other
    hands (FLIP-6).
    """

    color: str | None
    color_name: str
    colors: tuple[str, ...]
    side: str | None
    top: str
    top_name: str
    draw_pile: int
    clockwise: bool
    direction: str
    following: str
    swaps: bool
    lower: tuple[LowerCard, ...]
    thickness: range
    backs: bool
    owed: str = ""
    owed_by: str = ""
    tension: int = 0


class ScoreRow(NamedTuple):
    """A row of the score sheet: a round or the total, with the points of each player."""

    label: str
    points: tuple[int, ...]


class Tag(NamedTuple):
    """A label beside a player's name. On small screens the word `short` stands for it, and without one nothing.

    `hot` tags stand out, and `uno` is that of a called UNO.
    """

    text: str
    short: str = ""
    hot: bool = False
    uno: bool = False

    @property
    def classes(self) -> str:
        """The CSS classes of the label."""
        found = ("tag", "hot" if self.hot else "uno" if self.uno else "", "" if self.short else "long")
        return " ".join(filter(None, found))


class Card(NamedTuple):
    """A card shown face up. `fits`: its holder can play it now.

    With a deck of two sides `text` is the face on `side`, and `back` the face on `back_side`. `name` names both.
    """

    text: str
    name: str
    fits: bool = False
    side: str | None = None
    back: str = ""
    back_side: str | None = None


class Player(NamedTuple):
    """A player at the table.

    `place` is their place around the table as the reader sees it: 0 for the reader, then clockwise from 1 to `places`.
    It stays the same when the direction changes. `url` is empty for the reader, whose picture lies beside the hand, and
    `avatar` for a bot. `now`: it is their turn. `cards` is the size of their hand, `held` says it for the ear, `fan`
    has as many items as its picture has cards, and `mercy` says how close it is to the mercy limit. `tags` are labels.
    `state` is the score, as text. `backs` are the hidden faces of their cards, if the reader sees them (FLIP-6).
    """

    seat: int
    name: str
    url: str
    avatar: str
    you: bool
    now: bool
    cards: int
    held: str
    mercy: Mercy
    out: bool
    tags: tuple[Tag, ...]
    state: str
    place: int
    places: int
    fan: range
    backs: tuple[Card, ...] = ()

    @property
    def classes(self) -> str:
        """The CSS classes of the player."""
        place = f"n-{self.place}" if self.place else "you"
        found = ("player", place, "now" if self.now else "", self.mercy.nearness, "out" if self.out else "")
        return " ".join(filter(None, found))


SORTS: Final = {"color": N_("Colour"), "number": N_("Number"), "drawn": N_("As drawn")}
SORT_KEYS: Final = {"color": "shift+c", "number": "shift+n"}
NO_COLOR: Final = {
    "choose_color": Phrase(N_("Not chosen yet"), N_("Not chosen yet.")),
    "play": Phrase(N_("Any card fits"), N_("Any card fits.")),
    "drawn": Phrase(N_("Any card fits"), N_("Any card fits.")),
    "buzz": Phrase(N_("No colour"), N_("No colour.")),
    "over": Phrase(N_("No colour"), N_("No colour.")),
}
"""What is said of the current colour by the phase, if none is in force (TURN-8)."""

LOWER_CARDS: Final = 3
"""The most cards shown below the top card of the discard pile."""
TILTS: Final = 4
"""The number of ways in which these cards lie."""
TENSION: Final = (10, 20)
"""The sizes of a stack at which the page starts to show its number larger, and in another tone."""
CARDS_IN_A_LAYER: Final = 20
"""The cards of the draw pile that its picture shows as one layer."""
FAN: Final = 9
"""The most cards in the picture of another player's hand."""

_COLOR_ORDER: Final = {
    color: n
    for n, color in enumerate(
        (*(color for deck in rules.DECKS.values() for side in deck.sides for color in side.colors), "")
    )
}


def sorted_hand(hand: Sequence[str], sort: str) -> list[str]:
    """Return faces in one of the orders of `SORTS`."""
    if sort == "drawn":
        return list(hand)
    return sorted(hand, key=_by_number if sort == "number" else _by_color)


def _by_color(card: str) -> tuple[int, int]:
    face = rules.face_of(card)
    return _COLOR_ORDER[face.color], face.rank


def _by_number(card: str) -> tuple[int, int]:
    face = rules.face_of(card)
    return face.rank, _COLOR_ORDER[face.color]


def hand_of(view: GameView, *, sort: str, chosen: str, here: str, confirm: str) -> OwnHand | None:
    """Return the reader's hand; None for a spectator, a player who is out, and after the game.

    `sort` is a key of `SORTS`, `chosen` the card or the straight that is being played, or empty, `here` the page's
    address, `confirm` what the reader is asked about.
    """
    seen = view.view
    if seen is None or seen.hand is None or not seen.hand or view.status != "playing":
        return None
    plays, fits = view.plays, view.playable_cards
    focus, opening = seen.drawn, opening_cards(view)
    in_play = (*chosen.split(BETWEEN), seen.drawn)
    yes, no = (say.text("hand", "fits"), _why_not(view, seen)) if view.my_turn else ("", "")
    shown = []
    for card in sorted_hand(seen.hand, sort):
        name, on, opens = card_name(card), card in in_play, card in opening
        playable = card in plays
        inert = view.cost_of_miss > 0 and not playable
        ways = plays.get(card, ())
        move, asks = move_by_click(card, ways), opens or len(ways) > 1
        race, label = _out_of_turn(seen, card) if playable and not view.my_turn else ("", "")
        fit, focused = yes if playable else no, card == focus
        shown.append(HandCard(card, name, playable, on, focused, seen.side, move, opens, inert, race, label, asks, fit))
        if card == focus:
            focus = None
    note = cards(len(shown))
    if view.my_turn and seen.phase != "choose_color":
        note = say.plural("hand", "{cards}, {n} playable", "{cards}, {n} playable", fits, cards=note)
    sorts = tuple(
        Sort(way, say.text("sort", label), f"{here}?sort={way}", way == sort, SORT_KEYS.get(way, ""))
        for way, label in SORTS.items()
    )
    tens, ones = divmod(len(shown), 10)
    slow = not view.terms.live
    return OwnHand(note, shown, sorts, view.my_turn, tens, ones, view.races, locked(view), slow, confirm)


def _why_not(view: GameView, seen: rules.View) -> str:
    """Return in a few words why the cards of a player on turn that do not fit are refused (`rules.why_not`)."""
    if seen.phase == "choose_color":
        return say.text("hand", "choose the colour first")
    if seen.phase == "buzz":
        return say.text("hand", "press the buzzer first")
    if seen.phase == "drawn":
        must, may = N_("play the drawn card"), N_("play or keep the drawn card")
        return say.text("hand", must if view.options.drawn_must_play else may)
    if seen.pending is not None and seen.pending.value:
        return say.text("hand", "does not answer a +{value}", value=seen.pending.value)
    if seen.pending is not None:
        return say.text("hand", "nothing answers these cards")
    if seen.color and not rules.face_of(seen.top).color:
        return say.text("hand", "does not match {color}", color=color_in_sentence(seen.color))
    return say.text("hand", "does not match {card}", card=card_name(seen.top))


def _out_of_turn(seen: rules.View, card: str) -> tuple[str, str]:
    """Return the CSS classes and the label of a card that the reader can play out of turn now.

    The classes differ from those of the top card before, so that a card at the same place starts to move again.
    """
    odd = " odd" if len(seen.discard_pile) % 2 else ""
    if rules.continues_straight(seen, card):
        return f"step{odd}", ""
    return f"jump{odd}", say.text("card", "Jump in")


def move_by_click(card: str, ways: Sequence[rules.Move]) -> str:
    """Return the move that a click on a card sends: the only one of its legal plays, or the play without a choice."""
    return str(ways[0]) if len(ways) == 1 else str(rules.Move("play", card))


def stage_of(view: GameView, seen: rules.View) -> Stage:
    """Return the piles, the current colour, the stack and the direction."""
    following = seen.next_seat(seen.turn)
    then = N_("You are next") if following == view.you else N_("{name} is next")
    stage = Stage(
        color=seen.color,
        color_name=color(seen.color) or say.text("table", NO_COLOR[seen.phase].shown),
        colors=view.options.rules.sides[seen.side].colors,
        side=seen.side,
        top=seen.top,
        top_name=card_name(seen.top),
        draw_pile=seen.draw_pile,
        clockwise=seen.direction == 1,
        direction=say.text("table", N_("Clockwise") if seen.direction == 1 else N_("Counter-clockwise")),
        following=""
        if seen.phase == "over" or following == seen.turn
        else say.text("table", then, name=view.names[following]),
        swaps=view.options.zero_seven,
        lower=_lower_cards(seen.discard_pile),
        thickness=range(-(-seen.draw_pile // CARDS_IN_A_LAYER)),
        backs=seen.backs is not None,
    )
    if seen.pending is None:
        return stage
    on_whom = N_("on you") if seen.turn == view.you else N_("on {name}")
    return stage._replace(
        owed=f"+{say.number(seen.pending.total)}" if seen.pending.value else say.text("stack", "Cards"),
        owed_by=say.text("stack", on_whom, name=view.names[seen.turn]),
        tension=sum(seen.pending.total >= step for step in TENSION),
    )


def _lower_cards(discard_pile: Sequence[str]) -> tuple[LowerCard, ...]:
    """Return the cards just below the top card. Each lies in its own way, and keeps it while others cover it."""
    first = max(0, len(discard_pile) - 1 - LOWER_CARDS)
    return tuple(LowerCard(card, n % TILTS) for n, card in enumerate(discard_pile[first:-1], first))


def due_of(view: GameView, now: datetime) -> DueTime | None:
    """Return the deadline of the turn, or None if the page shows none."""
    deadline = deadline_of(view)
    if deadline is None:
        return None
    seconds = (deadline - now).total_seconds()
    return DueTime(
        iso=deadline.isoformat(timespec="seconds"),
        left=time_left(deadline, now),
        seconds=round(seconds, 1),
        note=say.text("time", "until {time}", time=due(deadline, now)) if seconds > 2 * MINUTE else "",
    )


def players_of(view: GameView, now: datetime) -> list[Player]:
    """Return the players in turn order, the reader first."""
    seen = view.view
    first = view.you or 0
    direction = seen.direction if seen else 1
    seats = [view.seats[(first + n * direction) % len(view.seats)] for n in range(len(view.seats))]
    return [_player(view, seat, now) for seat in seats]


def _player(view: GameView, seat: SeatView, now: datetime) -> Player:
    mercy, turn, yours = mercy_of(view, seat), seat.seat == view.turn, seat.seat == view.you
    state = say.plural("seat", "{n} point", "{n} points", seat.score) if view.options.is_match else ""
    # A spectator sits nowhere, so all players have a place around the table.
    first = -1 if view.you is None else view.you
    return Player(
        seat=seat.seat,
        name=seat.name,
        url="" if yours else profile_url(seat.username),
        avatar=seat.avatar,
        you=yours,
        now=turn,
        cards=seat.cards,
        held=held(view, seat),
        mercy=mercy,
        out=seat.out,
        tags=(*_tags(view, seat), *_time_off_tags(view, seat, now)),
        state=state,
        place=(seat.seat - first) % (len(view.seats) + (view.you is None)),
        places=len(view.seats) - (view.you is not None),
        fan=range(min(seat.cards, FAN)),
        backs=_backs(view, seat),
    )


def held(view: GameView, seat: SeatView) -> str:
    """Return how many cards a player holds, for the ear: `4 cards`, or close to the mercy limit `23 of 25 cards`."""
    mercy = mercy_of(view, seat)
    return (
        say.text("seat", "{n} of {limit} cards", n=seat.cards, limit=mercy.limit) if mercy.close else cards(seat.cards)
    )


def _backs(view: GameView, seat: SeatView) -> tuple[Card, ...]:
    seen = view.view
    if seen is None or seen.backs is None:
        return ()
    side = view.options.rules.other_side(seen.side)
    return tuple(Card(face, card_name(face), side=side) for face in sorted_hand(seen.backs[seat.seat], "color"))


def _tags(view: GameView, seat: SeatView) -> Iterator[Tag]:
    seen = view.view
    if seat.seat == view.winner:
        yield _word(say.text("tag", "winner"), hot=True)
    if seat.left:
        yield _word(say.text("tag", "left"))
    elif seat.out:
        yield _word(say.text("tag", "out"))
    if seen is not None and seat.seat in seen.going_out:
        yield Tag(say.text("tag", "played the last card"))
    if seat.uno:
        yield Tag("UNO", "UNO", uno=True)
    if seat.exposed:
        yield Tag(say.text("tag", "didn’t call UNO"), hot=True)
    if seen is not None and seen.fines and seen.fines[seat.seat]:
        fine = say.plural("tag", "fined {n} point", "fined {n} points", seen.fines[seat.seat])
        yield Tag(fine, say.text("tag", "fined"))
    if seat.bot and not seat.owner:
        yield Tag(bot_note(seat.bot), say.text("tag", "bot"))
    if seat.is_program:
        yield _word(say.text("tag", "program"))


def _word(text: str, *, hot: bool = False) -> Tag:
    """Return a tag that is short enough for every screen."""
    return Tag(text, text, hot)


def _time_off_tags(view: GameView, seat: SeatView, now: datetime) -> Iterator[Tag]:
    """Yield the tags of a player who is away or has a bot in their seat."""
    if view.status != "playing" or seat.left:
        return
    if seat.owner:
        yours = seat.seat == view.you
        plays = N_("a bot plays for you") if yours else N_("a bot plays")
        yield Tag(say.text("tag", plays), say.text("tag", "bot"), hot=yours)
    if seat.misses:
        missed = say.plural(
            "tag",
            "missed {n} of {allowed} turns",
            "missed {n} of {allowed} turns",
            seat.misses,
            allowed=view.misses_allowed,
        )
        yield Tag(missed, hot=seat.misses + 1 >= view.misses_allowed)
    if absent := _absence(view, seat, now):
        words, until = absent
        yield Tag(say.text("tag", words.tag, until=until), say.text("tag", words.short))


class _Absence(NamedTuple):
    """How it is said that a player is not here: beside the name, there on small screens, and in a sentence."""

    tag: str
    short: str
    sentence: str


_VACATION: Final = _Absence(N_("on vacation until {until}"), N_("away"), N_("{name} is on vacation until {until}."))
_SLEEP: Final = _Absence(N_("asleep until about {until}"), N_("asleep"), N_("{name} is asleep until about {until}."))


def _absence(view: GameView, seat: SeatView, now: datetime) -> tuple[_Absence, str] | None:
    """Return why a player is not here and until when, None if nothing says so. At a live table all are."""
    if view.terms.live:
        return None
    if seat.away_until is not None and seat.away_until > now:
        return _VACATION, short_day(seat.away_until, now)
    if seat.sleep is None or seat.owner or view.you in (None, seat.seat):  # only the other players see it
        return None
    wakes = seat.sleep.quiet_end(now)
    return (_SLEEP, about_hour(wakes)) if wakes > now else None


def absence_on_turn(view: GameView, now: datetime) -> str:
    """Return a sentence about the player whose turn it is, if they are not here: `Ann is on vacation until Mon.`"""
    if view.turn is None or view.my_turn or view.paused or view.seats[view.turn].bot:
        return ""
    absent = _absence(view, view.seats[view.turn], now)
    if absent is None:
        return ""
    words, until = absent
    return say.text("detail", words.sentence, name=view.names[view.turn], until=until)


def scores_of(view: GameView, players: Sequence[Player]) -> tuple[ScoreRow, ...]:
    """Return a row for each round and the total, in the order of `players`. Empty until a round has ended."""
    if not view.results:
        return ()
    order = [player.seat for player in players]
    rows = [ScoreRow(str(result.number), tuple(map(result.outcome.gained, order))) for result in view.results]
    return (*rows, ScoreRow(say.text("scores", "Total"), tuple(view.seats[seat].score for seat in order)))


def shown_cards(
    hand: Sequence[rules.Card],
    options: rules.Options,
    side: str | None,
    *,
    fitting: Collection[str | None] = (),
    backs: bool = True,
) -> list[Card]:
    """Return the cards of a hand, sorted by the face in force.

    `side` is the side in force, None if the deck has one side. `fitting` are the faces that their holder can play now.
    With `backs` the hidden faces of a deck of two sides are shown too.
    """
    front = options.rules.sides[side]
    if side is None or not backs:
        faces = sorted_hand(front.show(tuple(hand)), "color")
        return [Card(face, card_name(face), face in fitting, side) for face in faces]
    back_side = options.rules.other_side(side)
    back = options.rules.sides[back_side]
    both = sorted((front.show_card(card), back.show_card(card)) for card in hand)
    return [
        Card(
            face,
            say.text("card", "{front}, {back} on the back", front=card_name(face), back=card_name(hidden)),
            face in fitting,
            side,
            hidden,
            back_side,
        )
        for face, hidden in sorted(both, key=lambda pair: _by_color(pair[0]))
    ]
