"""The page of a game: the `page` object of templates/games/game.html and its fragments."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from django.utils.http import urlencode

from common.readers_language import say
from common.say import N_
from games import rules
from games.models.moderation import MOVE_SEAT, REMOVE
from games.queries import GameView, LastHand, RematchState
from games.queries.game_page import LOG_LINES, LastRound, PageContents, ShownPage
from games.refusals import Denied
from games.render import words
from games.render.clock import Clock, clock_of
from games.render.confirm import move_in
from games.render.idle_keys import IdleKey, idle_keys
from games.render.key_moments import MomentList, moments_of
from games.render.log_notes import notes_of
from games.render.log_rows import LogRow, log_of, new_cards, said_with_pause
from games.render.lost_hand import ShownLoss, lost_hand_of
from games.render.move import YourMove, move_of
from games.render.news import News, news_of
from games.render.orders import OrdersPart, PendingOrders, orders_of, pending_orders
from games.render.page_events import PageEvents, page_events, recap
from games.render.race import Race, race_of
from games.render.resign import may_leave
from games.render.round_end import EndedRound, round_end
from games.render.round_story import EndForReader
from games.render.rulebook import table_rules_url
from games.render.table import (
    NO_COLOR,
    SORTS,
    DueTime,
    OwnHand,
    Player,
    ScoreRow,
    Stage,
    absence_on_turn,
    due_of,
    hand_of,
    held,
    players_of,
    scores_of,
    stage_of,
)
from games.render.tips import TIPS, ShownTip, tip_of

UNSEATED: Final = {
    REMOVE: N_("Staff removed you from this table."),
    MOVE_SEAT: N_("Staff gave your seat to somebody else."),
}
"""What the page says to a person whose seat staff took, by the act."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What the request asks the page to show.

    `choose` is a card whose chooser is open, or a move that its reader is asked about, or empty. `uno` turns the UNO
    switch on. `sort` is an order of the hand (a key of `SORTS`). `refusal` is why the last move was refused. `refresh`:
    without scripts, the page may reload itself while others move. `shown` is what the reader's open page shows, None if
    the page is loaded as a whole. `looks`: the reader looks at the page. `orders` adds the form of standing orders.
    """

    choose: str = ""
    uno: bool = False
    sort: str = "color"
    refusal: Denied | None = None
    refresh: bool = True
    shown: ShownPage | None = None
    looks: bool = False
    orders: bool = False


class Over(NamedTuple):
    """What a page offers once its game is over.

    `rematch` is the label of the rematch button and `note` the sentence beside it. `rematch_url` is empty if the reader
    gets no button. `looked` says that staff looked at hands, if they did. `unseen`: the reader's visit to the end is
    not stored yet. `looks`: the reader looks at the page now, so it stores the visit by itself. `moments` are the key
    moments of the game. `guest`: the reader is a guest, who can sign up to keep the game.
    """

    rematch_url: str
    rematch: str
    note: str
    looked: str
    replay_url: str
    record_url: str
    moments: MomentList
    unseen: bool
    looks: bool
    guest: bool


class SpokenKey(NamedTuple):
    """A key and a button that announce `text`. static/js/keys.js replaces `{left}` in it by the time left."""

    key: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class GamePage:
    """Everything that the page of a game shows its reader.

    A part that does not apply is None: no move to make, no hand, no deadline, no race, no standing orders, none
    that are about to play, no round that has just ended.

    - `deal` is the number of the deal, which a move sends along.
    - `lost` is the hand that the reader was knocked out with, None if they were not.
    - `is_whole`: not only the part that an open page fetches, which keeps what never changes (`data-unchanged`).
    - `has_races`: cards can be played out of turn at this table, or all press the buzzers.
    - `race` is an open race for a buzzer.
    - `revision` is raised by each change that the page of any viewer shows. Open pages compare it.
    - `token` is the idempotency token of the next move.
    - `turn_call` says to a screen reader that it is the reader's turn, if the headline only says what to do.
    - `tip` is a tip, None for none. `choosing` is what `PageRequest.choose` asks for, if the page shows it.
    - `fragment_url` is where the page fetches its next state.
    - `about_points` says how the scores count if they are penalty points.
    - `resign_url` is empty if the reader cannot leave the game.
    - `refresh_url` is where the page reloads itself without scripts, or empty. `refreshing`: it does so.
    - `news` is what others did since the reader's last move, None if the page does not show it.
    - `columns` are the names above the score sheet.
    - `options` are the table's options in words, and `rules_url` leads to its rules.
    - `refusal_url` leads to the rule of `refusal`. Empty without one.
    - `contents` are there for what the page shows without words of its own.
    - `events` are what has happened since the reader's open page was made; on a page that is loaded as a whole, `news`.
    """

    code: str
    version: int
    deal: int
    revision: int
    is_whole: bool
    has_races: bool
    token: str
    headline: str
    turn_call: str
    crumb: str
    detail: str
    tip: ShownTip | None
    choosing: str
    due: DueTime | None
    move_url: str
    log_url: str
    fragment_url: str
    refresh_url: str
    refreshing: bool
    refusal: Denied | None
    news: News | None
    move: YourMove | None
    hand: OwnHand | None
    lost: ShownLoss | None
    table: Stage
    race: Race | None
    players: Sequence[Player]
    scores: Sequence[ScoreRow]
    about_points: str
    columns: tuple[str, ...]
    log: Sequence[LogRow]
    ended: EndedRound | None
    over: Over | None
    report_url: str
    resign_url: str
    clock: Clock | None
    orders: OrdersPart | None
    pending: PendingOrders | None
    options: str
    rules_url: str
    refusal_url: str
    contents: PageContents
    spoken_keys: Sequence[SpokenKey]
    idle_keys: Sequence[IdleKey]
    events: PageEvents


def game_page(contents: PageContents, asked: PageRequest, now: datetime) -> GamePage:
    """Return the page of a game that has started."""
    view, lines, seen = contents.view, contents.lines, contents.view.view
    assert seen is not None
    here = words.table_url("game", view.id)
    sort = asked.sort if asked.sort in SORTS else "color"
    headline = words.headline(view)
    if contents.called_off_by_staff:
        headline = say.text("headline", "Staff called this game off: nobody wins")
    pending = pending_orders(view, now)
    # What the orders are about to do stands at the place of a tip, and is said as one.
    tip = None if contents.seen_tips is None or pending is not None else tip_of(view, contents.seen_tips)
    said = tip if pending is None else ShownTip("orders", pending.words)
    unseated = UNSEATED.get(contents.unseated)
    players, stage = players_of(view, now), stage_of(view, seen)
    spoken_headline, due = words.spoken_headline(view), due_of(view, now)
    presses_buzzers = view.options.buzzers == "race"
    move = move_of(view, choose=asked.choose, uno=asked.uno, here=here)
    choosing = asked.choose if move and move.chooser else ""
    asked_about = move_in(view, asked.choose)
    chosen = asked_about.card or "" if asked_about else asked.choose
    hand = hand_of(view, sort=sort, chosen=chosen, here=here, confirm=contents.confirm)
    others_move = view.status == "playing" and not view.my_turn
    notes = notes_of(contents.between)[-LOG_LINES:]
    news = news_of(view, lines, notes)
    return GamePage(
        code=view.id,
        version=view.version,
        deal=view.deal,
        revision=view.revision,
        is_whole=asked.shown is None,
        has_races=view.races or presses_buzzers,
        token=secrets.token_urlsafe(12),
        headline=headline,
        turn_call=words.turn_call(view),
        crumb=words.crumb(view),
        detail=" ".join(
            filter(
                None,
                (
                    unseated and say.text("detail", unseated),
                    words.detail(view),
                    absence_on_turn(view, now),
                    _many_drawn(contents),
                ),
            )
        ),
        tip=tip,
        due=due,
        move_url=words.table_url("move", view.id),
        log_url=words.table_url("log", view.id),
        choosing=choosing,
        fragment_url=_fragment_url(here, view, choosing, said, orders=asked.orders),
        refresh_url=here if others_move else "",
        refreshing=others_move and asked.refresh,
        refusal=asked.refusal,
        news=news,
        move=move,
        hand=hand,
        lost=lost_hand_of(view, sort=sort, earlier=contents.is_past, my_turn=contents.turn_waits),
        table=stage,
        race=race_of(view, players, due),
        players=players,
        scores=scores_of(view, players),
        about_points=say.text("scores", "Penalty points: the fewest win.") if view.options.scoring == "penalty" else "",
        columns=tuple(player.name for player in players),
        log=log_of(view, lines[-LOG_LINES:], now, notes),
        ended=_ended(contents, seen),
        over=_over(contents, looks=asked.looks),
        report_url=words.table_url("report", view.id),
        resign_url=words.table_url("resign", view.id) if may_leave(view) else "",
        clock=clock_of(view, said_with_pause(notes)),
        orders=orders_of(view, with_form=asked.orders),
        pending=pending,
        options=words.options_prose(view),
        rules_url=table_rules_url(view),
        refusal_url=table_rules_url(view, asked.refusal.rule) if asked.refusal and asked.refusal.rule else "",
        contents=contents,
        spoken_keys=_spoken_keys(view, spoken_headline, seen, stage, hand, new_cards(view, lines)),
        idle_keys=idle_keys(move, headline=spoken_headline, colors=stage.colors, races=presses_buzzers),
        events=_events(contents, asked.shown, news, said, now),
    )


def _events(
    contents: PageContents, shown: ShownPage | None, news: News | None, tip: ShownTip | None, now: datetime
) -> PageEvents:
    """Return what has happened since the open page was made, and on a page that is loaded as a whole what is news.

    A `tip` that the open page does not show yet is said last.
    """
    view, lines = contents.view, contents.lines
    if shown is None:
        return recap(view, lines, now=now) if news else PageEvents()
    since = view.version if shown.version is None else shown.version
    events = page_events(view, lines, since=since, now=now, ended=shown.ended, deal=shown.deal)
    if tip is None or tip.key == shown.tip:
        return events
    if tip.key in TIPS:
        return replace(events, tip=tip.words)
    return replace(events, now=" ".join(filter(None, (events.now, tip.words))))


def _fragment_url(here: str, view: GameView, choose: str, tip: ShownTip | None, *, orders: bool) -> str:
    """Return where the page fetches its next state, with the revision, version and deal that the reader has seen."""
    query: dict[str, int | str] = {"since": view.version, "deal": view.deal, "revision": view.revision}
    if choose:
        query["choose"] = choose
    if tip is not None:
        query["tip"] = tip.key
    if orders:
        query["orders"] = 1
    if view.status == "playing" and view.turn is None:
        query["ended"] = view.round
    return f"{here}?{urlencode(query)}"


def _over(contents: PageContents, *, looks: bool) -> Over | None:
    view = contents.view
    if not view.ended:
        return None
    label, note = rematch_button(contents.rematch)
    url = words.table_url("rematch", view.id) if view.you is not None and label else ""
    return Over(
        rematch_url=url,
        rematch=label,
        note=note if view.you is not None else "",
        looked=say.text("over", "Staff looked at hands during this game. The log shows when.") if view.looked else "",
        replay_url=words.table_url("replay", view.id),
        record_url=words.table_url("record", view.id),
        moments=moments_of(view, contents.moments),
        unseen=contents.unseen_end,
        looks=looks,
        guest=contents.can_sign_up,
    )


def _many_drawn(contents: PageContents) -> str:
    """Return how many cards the reader has just drawn until one fitted, empty if it was the first (TURN-4)."""
    view, lines = contents.view, contents.lines
    if not view.my_turn or view.view is None or view.view.phase != "drawn" or not lines:
        return ""
    many = next((event.amount or 0 for event in lines[-1].events if event.kind == "drew"), 0)
    if many < 2:
        return ""
    must = N_("You drew {n}; the last one fits and must be played.")
    may = N_("You drew {n}; the last one fits: play it or keep it.")
    return say.text("detail", must if view.options.drawn_must_play else may, n=say.number(many))


def rematch_button(rematch: RematchState | None) -> tuple[str, str]:
    """Return the label of the rematch button, empty for no button, and the sentence beside it."""
    if rematch is None:
        return say.text("button", "Rematch"), ""
    if rematch.seated:
        return say.text("button", "Go to the rematch"), ""
    if not rematch.open:
        return "", say.text("over", "The rematch has started without you, or was closed.")
    note = N_("{name} wants a rematch.") if rematch.host else N_("Someone wants a rematch.")
    return say.text("button", "Join the rematch"), say.text("over", note, name=rematch.host)


def _ended(contents: PageContents, seen: rules.View) -> EndedRound | None:
    view, ended = contents.view, contents.last_round
    over = next((result for result in view.results if result.number == view.round), None)
    if seen.hands is not None and over is not None:
        hands = [
            LastHand(
                cards, seat.seat in seen.out, seat.left, seen.side, seat.owner and seat.seat == over.outcome.winner
            )
            for seat, cards in zip(view.seats, seen.hands, strict=True)
        ]
        ended = LastRound(over.number, over.outcome, hands)
    if ended is None:
        return None
    return round_end(EndForReader(view, ended, contents.moments, contents.story), contents.feats, contents.best)


def _hand_in_words(hand: OwnHand, new: Sequence[str]) -> str:
    """Return the number of cards and their names, new ones first: `3 cards, 1 playable. New: Red 5. Then Blue 1.`"""
    names, left = [], list(new)
    for card in hand.cards:
        if card.text in left:
            left.remove(card.text)
            names.append(card.name)
    rest = ", ".join((Counter(card.name for card in hand.cards) - Counter(names)).elements())
    if not names:
        return say.text("key", "{count}: {cards}.", count=hand.note, cards=rest)
    told = [say.text("key", "{count}. New: {cards}.", count=hand.note, cards=", ".join(names))]
    if rest:
        told.append(say.text("key", "Then {cards}.", cards=rest))
    return " ".join(told)


def _color_in_words(seen: rules.View) -> str:
    """Return the current colour, for the ear: `Red.` or `Any card fits.`"""
    if seen.color:
        return say.text("key", "{color}.", color=words.color(seen.color))
    return say.text("table", NO_COLOR[seen.phase].spoken)


def _spoken_keys(
    view: GameView, headline: str, seen: rules.View, stage: Stage, hand: OwnHand | None, new: Sequence[str]
) -> list[SpokenKey]:
    named = [(say.text("key", "You") if seat.seat == view.you else seat.name, seat) for seat in view.seats]
    counts = [
        say.text("key", "{name}: out.", name=name)
        if seat.out
        else say.text("key", "{name}: {cards}.", name=name, cards=held(view, seat))
        for name, seat in named
    ]
    scores = [say.text("key", "{name}: {points}.", name=name, points=say.number(seat.score)) for name, seat in named]
    mine = _hand_in_words(hand, new) if hand else say.text("key", "You hold no cards.")
    turn = [headline, *(["{left}."] if words.deadline_of(view) else [])]
    return [
        SpokenKey("c", say.text("key", "Top card"), say.text("key", "{card}.", card=stage.top_name)),
        SpokenKey("v", say.text("key", "Current colour"), _color_in_words(seen)),
        SpokenKey("g", say.text("key", "Stack"), words.stack_in_words(view, seen)),
        SpokenKey("e", say.text("key", "Card counts"), " ".join(counts)),
        SpokenKey("d", say.text("key", "Your hand"), mine),
        SpokenKey("t", say.text("key", "Turn and time left"), " ".join(turn)),
        SpokenKey("s", say.text("key", "Scores"), " ".join(scores)),
    ]
