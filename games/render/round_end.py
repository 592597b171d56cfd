"""The end of a round or of a game: who won, its story, the reader's numbers, everyone's cards, and the points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games import rules
from games.queries import GameView, LastHand, SeatView
from games.queries.game_page import LastRound
from games.render.game_cards import order_of_result
from games.render.key_moments import replay_url
from games.render.round_story import EndForReader, Story
from games.render.table import Card, shown_cards
from games.render.words import card_name, cards, headline, listed, profile_url


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


class EndNumber(NamedTuple):
    """A number of the reader's. `best` says that it is more than in any other game, empty if it is not."""

    label: str
    n: int
    best: str


class EndedRound(NamedTuple):
    """The end of a round, or of a game whose last round it is. The winner is the first of `rows`.

    - `result` says who won. `title` is the first line, about the reader, and `story` a sentence, empty for none.
    - `lead` says who leads the match, empty for a single round and once it is over.
    - `card` is the card that knocked the reader out, or else won, and `card_name` its name. Both are empty if there was
      none. `side` is the side in force when it was played, None before any Flip.
    - `numbers` are empty for somebody who did not play, and if all of them are 0.
    - `about_points` says where the points of the winner come from, empty where the fewest points win.
    - `bars`: scores are shown as bars. `unit` is what the points are called.
    - `go` is the label of the button that leads on.
    - `moment_url` leads to the moment that the story is about, and `share` is the text to share it with. Both are empty
      while the match goes on, because only finished games can be replayed.
    - `won`: the reader has won.
    """

    number: int
    result: str
    title: str
    story: str
    lead: str
    card: str
    card_name: str
    side: str | None
    numbers: Sequence[EndNumber]
    rows: Sequence[EndRow]
    about_points: str
    bars: bool
    unit: str
    go: str
    moment_url: str
    share: str
    won: bool


def round_end(end: EndForReader, feats: rules.Feats | None, best: rules.Feats | None) -> EndedRound:
    """Return the end of a round, or of a game, to its reader.

    `feats` is what they did, `best` their best in other games. The players are in the order of `order_of_result`.
    """
    view, ended, story, finisher = end.view, end.ended, end.sentence(), end.finisher
    card = finisher.card if finisher else None
    is_match = view.options.is_match
    order = sorted(view.seats, key=lambda seat: order_of_result(view, end.winner, seat))
    most = max(view.target, *(seat.score for seat in view.seats), 1)
    return EndedRound(
        number=ended.number,
        result=end.title(),
        title=end.first_line(),
        story=story.text if story else "",
        lead=_lead(view, ended.outcome) if is_match and view.winner is None else "",
        card=card or "",
        card_name=card_name(card) if card else "",
        side=finisher.side if finisher else None,
        numbers=_numbers(feats, best) if feats is not None and any(feats) else [],
        rows=[_row(view, seat, ended, most, end.winner) for seat in order],
        about_points="" if _is_penalty(view) else _about_points(view.options),
        bars=is_match,
        unit=say.text("points", "penalty points") if _is_penalty(view) else say.text("points", "points"),
        go=_go(view),
        moment_url=_moment_url(end, story) if view.ended else "",
        share=_share(end) if view.ended else "",
        won=end.winner == view.you,
    )


def _go(view: GameView) -> str:
    if view.ended:
        return say.text("round end", "Close")
    return say.text("round end", "Continue: it’s your turn") if view.my_turn else say.text("round end", "Continue")


def _moment_url(end: EndForReader, story: Story | None) -> str:
    move, number = (end.view.version, end.ended.number) if story is None else (story.move, story.round)
    return replay_url(end.view.id, n=move, round=number)


def _share(end: EndForReader) -> str:
    """Return how the game ended, for people who did not play: `Ann wins. Ben took a stack of 26 on move 88.`"""
    others = end.for_others()
    story = others.sentence()
    return " ".join([headline(others.view, spoken=True), *([story.text] if story else [])])


NUMBERS: Final = (
    (N_("Biggest stack sent"), N_("your best")),
    (N_("Biggest stack survived"), N_("your best")),
    (N_("Cards drawn"), N_("your most")),
)
"""What the numbers of a player are called, and what is said of one that is more than ever, in the order of `Feats`."""


def _numbers(feats: rules.Feats, best: rules.Feats | None) -> list[EndNumber]:
    others = best or feats
    return [
        EndNumber(say.text("round end", label), n, say.text("round end", most) if n > other else "")
        for (label, most), n, other in zip(NUMBERS, feats, others, strict=True)
    ]


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
        note=_note(hand, view, len(held), won=seat.seat == ended.outcome.winner),
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


def _note(hand: LastHand, view: GameView, held: int, *, won: bool) -> str:
    """Return how many cards a player held, and what they score: nothing if they won the round."""
    if held and won:
        return cards(held)
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


def _about_points(options: rules.Options) -> str:
    """Return where the points of a winner come from (SCORE-1, SCORE-2)."""
    if not options.mercy_limit:
        return say.text("round end", "Points: the cards that others hold.")
    return say.plural(
        "round end",
        "Points: the cards that others hold, and {n} for each player who is out.",
        "Points: the cards that others hold, and {n} for each player who is out.",
        options.mercy_points,
    )


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
