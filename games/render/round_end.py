"""The end of a round: who won, everyone's cards, the points, and what happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from games import rules
from games.queries import GameView, SeatView
from games.queries.game_page import LastRound
from games.render.key_moments import moment_sentence
from games.render.log_rows import sentence_case
from games.render.table import Card, shown_cards
from games.render.words import cards, counted, listed, of_bot, points_unit, profile_url, who_wins


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
    seat, bot = outcome.winner, ended.hands[outcome.winner].won_by_bot
    won = who_wins(view.names, seat, view.you, bot=bot)
    names, reader = of_bot(view.names, seat, view.you) if bot else (view.names, view.you)
    said = sentence_case(rules.sentence(rules.Event("won", seat, points=outcome.points), reader, names))
    high = view.options.scoring == "winner"
    order = sorted(view.seats, key=lambda seat: (seat.seat != winner, seat.left, -seat.score if high else seat.score))
    most = max(view.target, *(seat.score for seat in view.seats), 1)
    return EndedRound(
        number=ended.number,
        result=f"Round {ended.number}: {said}" if is_match else "Everyone’s cards at the end",
        title=f"{won} round {ended.number}" if is_match else f"{won}",
        lead=_lead(view, outcome) if is_match else "",
        rows=[_row(view, seat, ended, most, winner) for seat in order],
        happened=_happened(view, moments),
        bars=is_match,
        go="Continue: it’s your turn" if view.my_turn else "Continue",
        unit=f"{points_unit(view.options)}s",
    )


def _row(view: GameView, seat: SeatView, ended: LastRound, most: int, winner: int) -> EndRow:
    hand, gained = ended.hands[seat.seat], ended.outcome.gained(seat.seat)
    held = shown_cards(hand.cards, view.options, hand.side)
    points = rules.hand_points(hand.cards, view.options.rules.sides[hand.side])
    first, unit = -1 if view.you is None else view.you, points_unit(view.options)
    return EndRow(
        name=seat.name,
        avatar=seat.avatar,
        url=profile_url(seat.username),
        place=(seat.seat - first) % (len(view.seats) + (view.you is None)),
        you=seat.seat == view.you,
        winner=seat.seat == winner,
        out=hand.out,
        cards=held,
        none="left the game" if hand.left else "out by the mercy rule" if hand.out else "no cards left",
        note=f"{cards(len(held))}, {counted(points, unit)}"
        if held
        else counted(view.options.mercy_points, unit)
        if hand.out and not hand.left
        else "",
        gained=gained,
        before=seat.score - gained,
        total=seat.score,
        bar=round(100 * seat.score / most, 1),
        bar_before=round(100 * (seat.score - gained) / most, 1),
    )


def _lead(view: GameView, outcome: rules.Outcome) -> str:
    """Return what the winner has scored and who leads: `+380 points. You lead with 861 of 1,000.`

    Where the fewest points win, it says that they are penalty points: `Ann leads with 12 of 500 penalty points.`
    """
    gained, penalty = outcome.gained(outcome.winner), view.options.scoring == "penalty"
    scored = "" if penalty else f"+{gained:,} {'point' if gained == 1 else 'points'}. "
    inside = [seat for seat in view.seats if not seat.left]
    best = (max if view.options.scoring == "winner" else min)(seat.score for seat in inside)
    first = [seat for seat in inside if seat.score == best]
    names = ["you" if seat.seat == view.you else seat.name for seat in first]
    text = listed(names)
    verb = "leads" if len(first) == 1 and names != ["you"] else "lead"
    of = f" of {view.target:,}" if view.target else ""
    unit = f" {points_unit(view.options)}s" if penalty else ""
    return f"{scored}{'You' + text[3:] if names[0] == 'you' else text} {verb} with {best:,}{of}{unit}."


def _happened(view: GameView, moments: Sequence[rules.KeyMoment]) -> list[str]:
    """Return each knock-out and the biggest stack in words, in the order of the log."""
    stacks = [moment for moment in moments if moment.kind in ("took_stack", "stack")]
    biggest = max(stacks, key=lambda moment: moment.amount, default=None)
    return [moment_sentence(view, moment) for moment in moments if moment.kind == "knocked_out" or moment is biggest]
