"""The end of a round: who won, everyone's cards, the points, and what happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games import rules
from games.queries import GameView, LastHand, SeatView
from games.queries.game_page import LastRound
from games.render.key_moments import moment_sentence
from games.render.table import Card, shown_cards
from games.render.words import cards, listed, profile_url, round_won


class EndRow(NamedTuple):
    """A player at the end of a round.

    `none` says why there are no `cards`, and `note` what is to say of them. `gained` are the points of this round,
    `before` the score before it and `total` the score now. `bar` and `bar_before` are these scores in per cent of the
    score that ends the match. `place` is the player's place around the table, which decides the colour.
    """

    name: str
    avatar: str
    url: str
    place: int
    you: bool
    winner: bool
    out: bool
    cards: Sequence[Card]
    none: str
    note: str
    gained: int
    before: int
    total: int
    bar: float
    bar_before: float

    @property
    def classes(self) -> str:
        """The CSS classes of the player."""
        return " ".join(filter(None, ("won" if self.winner else "", "out" if self.out else "", f"n-{self.place}")))


class EndedRound(NamedTuple):
    """The end of a round, the winner first.

    `result` is one sentence. `title` says who won, and `lead` who leads the match, empty for a single round. `happened`
    are the knock-outs and the biggest stack, in words. `bars`: scores are shown as bars. `go` is the label of the
    button that leads on. `unit` is what the points are called.
    """

    number: int
    result: str
    title: str
    lead: str
    rows: Sequence[EndRow]
    happened: Sequence[str]
    bars: bool
    go: str
    unit: str


def round_end(view: GameView, ended: LastRound, moments: Sequence[rules.KeyMoment]) -> EndedRound:
    """Return the end of a round to its reader. `moments` are the key moments of that round.

    The players after the winner are in the order of their scores.
    """
    outcome, is_match = ended.outcome, view.options.is_match
    winner = outcome.winner if view.winner is None else view.winner
    title = round_won(view, ended.number, outcome.winner, by_bot=ended.hands[outcome.winner].won_by_bot)
    sign = 1 if _is_penalty(view) else -1
    order = sorted(view.seats, key=lambda seat: (seat.seat != winner, seat.left, sign * seat.score))
    most = max(view.target, *(seat.score for seat in view.seats), 1)
    return EndedRound(
        number=ended.number,
        result=title if is_match else say.text("round end", "What they were holding"),
        title=title,
        lead=_lead(view, outcome) if is_match else "",
        rows=[_row(view, seat, ended, most, winner) for seat in order],
        happened=_happened(view, moments),
        bars=is_match,
        go=say.text("round end", "Continue: it’s your turn") if view.my_turn else say.text("round end", "Continue"),
        unit=say.text("points", "penalty points") if _is_penalty(view) else say.text("points", "points"),
    )


def _row(view: GameView, seat: SeatView, ended: LastRound, most: int, winner: int) -> EndRow:
    hand, gained = ended.hands[seat.seat], ended.outcome.gained(seat.seat)
    held = shown_cards(hand.cards, view.options, hand.side)
    first = -1 if view.you is None else view.you
    return EndRow(
        name=seat.name,
        avatar=seat.avatar,
        url=profile_url(seat.username),
        place=(seat.seat - first) % (len(view.seats) + (view.you is None)),
        you=seat.seat == view.you,
        winner=seat.seat == winner,
        out=hand.out,
        cards=held,
        none=_why_none(hand, view.options),
        note=_note(hand, view, len(held)),
        gained=gained,
        before=seat.score - gained,
        total=seat.score,
        bar=round(100 * seat.score / most, 1),
        bar_before=round(100 * (seat.score - gained) / most, 1),
    )


def _why_none(hand: LastHand, options: rules.Options) -> str:
    """Return why a player has no cards at the end."""
    if hand.left:
        return say.text("round end", "left the game")
    if hand.out:
        return say.plural("round end", "no mercy: {n} card", "no mercy: {n} cards", options.mercy_limit)
    return say.text("round end", "no cards left")


def _note(hand: LastHand, view: GameView, held: int) -> str:
    """Return how many cards a player held, and what they score."""
    if held:
        points = _points(view, rules.hand_points(hand.cards, view.options.rules.sides[hand.side]))
        return say.text("round end", "{cards}, {points}", cards=cards(held), points=points)
    return _points(view, view.options.mercy_points) if hand.out and not hand.left else ""


def _is_penalty(view: GameView) -> bool:
    """Return True where the fewest points win (SCORE-4)."""
    return view.options.scoring == "penalty"


def _points(view: GameView, n: int) -> str:
    if _is_penalty(view):
        return say.plural("points", "{n} penalty point", "{n} penalty points", n)
    return say.plural("points", "{n} point", "{n} points", n)


def _lead(view: GameView, outcome: rules.Outcome) -> str:
    """Return what the winner has scored and who leads: `+380 points. You lead with 861 of 1,000.`

    Where the fewest points win, it says that they are penalty points: `Ann leads with 12 of 500 penalty points.`
    """
    penalty, gained = _is_penalty(view), outcome.gained(outcome.winner)
    inside = [seat for seat in view.seats if not seat.left]
    best = (min if penalty else max)(seat.score for seat in inside)
    first = [seat for seat in inside if seat.score == best]
    others = [seat.name for seat in first if seat.seat != view.you]
    message = _LEADS[len(others) < len(first), min(len(others), 2)]
    scored = [] if penalty else [say.plural("round end", "+{n} point.", "+{n} points.", gained)]
    leads = say.text("round end", message, names=listed(others), score=_score(view, best))
    return " ".join([*scored, leads])


_LEADS: Final = {
    (True, 0): N_("You lead with {score}."),
    (True, 1): N_("You and {names} lead with {score}."),
    (True, 2): N_("You, {names} lead with {score}."),
    (False, 1): N_("{names} leads with {score}."),
    (False, 2): N_("{names} lead with {score}."),
}
"""Who leads a match: by whether the reader does, and by how many others do, 2 for more."""


def _score(view: GameView, n: int) -> str:
    """Return a score, and that which ends the match: `861 of 1,000`."""
    penalty, score, target = _is_penalty(view), say.number(n), say.number(view.target)
    if view.target and penalty:
        return say.text("points", "{score} of {target} penalty points", score=score, target=target)
    if view.target:
        return say.text("points", "{score} of {target}", score=score, target=target)
    return _points(view, n) if penalty else score


def _happened(view: GameView, moments: Sequence[rules.KeyMoment]) -> list[str]:
    """Return each knock-out and the biggest stack in words, in the order of the log."""
    stacks = [moment for moment in moments if moment.kind in ("took_stack", "stack")]
    biggest = max(stacks, key=lambda moment: moment.amount, default=None)
    return [moment_sentence(view, moment) for moment in moments if moment.kind == "knocked_out" or moment is biggest]
