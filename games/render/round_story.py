"""The first line of the end of a round or of a game, and the sentence that tells its story."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_, Message
from games import rules
from games.queries import GameView
from games.queries.game_page import LastRound
from games.render import words
from games.rules.key_moments import BIG_STACK

FIRST_LINES: Final[dict[str, Message]] = {
    "out by winner": N_("{winner} got you"),
    "out/stack": N_("You went out on move {move}, to a stack of {n}"),
    "out": N_("You went out on move {move}"),
    "held": (N_("{winner} wins, and you were {n} card short"), N_("{winner} wins, and you were {n} cards short")),
    "held/round": (
        N_("{winner} wins round {round}, and you were {n} card short"),
        N_("{winner} wins round {round}, and you were {n} cards short"),
    ),
    "match": (
        N_("{winner} wins the match, {n} point ahead of you"),
        N_("{winner} wins the match, {n} points ahead of you"),
    ),
}
"""The first line to a player who has lost: knocked out by the winner, or otherwise; with cards in hand, at the end of a
game or while a match goes on; a match."""

STORIES: Final = {
    # To a player who was knocked out
    "out by winner/stack": N_("You went out on move {move}, to a stack of {n}."),
    "out by winner": N_("You went out on move {move}."),
    "out/stack": N_("{name} sent you that stack."),
    "out/card": N_("{name} played the {card} that finished you."),
    "out/caught": N_("{name} caught you not calling UNO."),
    "out": N_("You held too many cards."),
    # To the player who knocked them out
    "out by you/stack": N_("Your stack of {n} knocked out {names}."),
    "out by you": N_("You knocked out {names}."),
    # To the winner
    "won/survived": N_("You took a stack of {n} and won anyway."),
    "won/sent": N_("You sent a stack of {n} on the way."),
    "won/card": N_("Your last card was {card}, on move {move}."),
    # To everybody else, and to a winner to whom no row above applies
    "took": N_("You took a stack of {n} on move {move}."),
    "out of others/stack": N_("{name} knocked out {names} with a stack of {n}."),
    "out of others": N_("{name} knocked out {names}."),
    "out by nobody": N_("{names} went out on move {move}."),
    "stack": N_("{name} took a stack of {n} on move {move}."),
    "card": N_("{name}’s last card was {card}, on move {move}."),
    # Of a match
    "match/you": N_("You took the lead in round {round} and kept it."),
    "match/always you": N_("Nobody ever took the lead from you."),
    "match": N_("{name} took the lead in round {round} and kept it."),
    "match/always": N_("Nobody ever took the lead from {name}."),
}
"""The story of a round or of a match. `{n}` is a number of owed cards, and `{names}` are those who went out."""


class Story(NamedTuple):
    """A sentence, and the move and the round of the moment that it is about."""

    text: str
    move: int
    round: int


@dataclass(frozen=True, slots=True)
class EndForReader:
    """The end of a round for its reader, or of a game whose last round it is.

    `story` is None for a game that is too long to be told. `moments` are those of the round, or of the game.
    """

    view: GameView
    ended: LastRound
    moments: Sequence[rules.KeyMoment]
    story: rules.RoundStory | None

    @property
    def winner(self) -> int:
        """The seat that has won the game, or the round if the match goes on."""
        return self.ended.outcome.winner if self.view.winner is None else self.view.winner

    @property
    def is_of_match(self) -> bool:
        """True at the end of a match."""
        return self.view.winner is not None and self.view.options.is_match

    @property
    def blow(self) -> rules.Blow | None:
        """What knocked the reader out, None if nothing did."""
        return self.story.outs.get(self.view.you) if self.story and self.view.you is not None else None

    @property
    def finisher(self) -> rules.Blow | None:
        """What knocked the reader out, or else won. None if nothing did or the game is too long to be told."""
        return self.blow or (self.story.win if self.story else None)

    def for_others(self) -> EndForReader:
        """Return the end as somebody sees it who did not play."""
        return replace(self, view=replace(self.view, you=None))

    def title(self) -> str:
        """Return who has won, as a heading."""
        if self.view.winner is not None:
            return words.headline(self.view)
        by_bot = self.ended.hands[self.winner].won_by_bot
        return words.round_won(self.view, self.ended.number, self.winner, by_bot=by_bot)

    def first_line(self) -> str:
        """Return how the reader has lost, and to others who has won, as a heading."""
        row, n = self._loss()
        if not row:
            return self.title()
        move, winner = self.blow.n if self.blow else 0, self.view.names[self.winner]
        return say.form("ending", FIRST_LINES[row], n, winner=winner, move=move, round=self.ended.number)

    def _loss(self) -> tuple[str, int]:
        """Return the row of `FIRST_LINES` and its number, an empty row for a reader who did not lose by themselves."""
        view, winner, blow = self.view, self.winner, self.blow
        by_bot = self.ended.hands[winner].won_by_bot
        if view.you is None or view.you == winner or view.seats[view.you].left or by_bot:
            return "", 0
        if self.is_of_match:
            behind = abs(view.seats[winner].score - view.seats[view.you].score)
            return ("match" if behind else ""), behind
        if blow is not None:
            return ("out by winner" if blow.by == winner else "out/stack" if blow.stack else "out"), blow.stack
        held = len(self.ended.hands[view.you].cards)
        row = "held" if view.winner is not None else "held/round"
        return (row if held else ""), held

    def sentence(self) -> Story | None:
        """Return the story, None if there is nothing to tell or the game is too long to be told."""
        if self.story is None:
            return None
        won = self.winner == self.view.you
        found = self._of_match(won=won) if self.is_of_match else None
        if found is None and won:
            found = self._of_winner(self.story)
        elif found is None and self.blow is not None:
            return self._of_loser(self.blow)
        return found or self._of_others(self.story)

    def _tell(
        self,
        row: str,
        move: int,
        seat: int | None = None,
        *,
        out: Sequence[int] = (),
        n: int = 0,
        card: str | None = None,
    ) -> Story:
        facts = {
            "name": "" if seat is None else self.view.names[seat],
            "names": words.listed([self.view.names[other] for other in out]),
            "card": words.card_name(card) if card else "",
        }
        return Story(say.text("ending", STORIES[row], move=move, n=n, **facts), move, self.ended.number)

    def _of_match(self, *, won: bool) -> Story | None:
        """Return since when the winner has had the lead, None if the end took it from somebody else."""
        leads = [moment for moment in self.moments if moment.kind == "lead"]
        name = self.view.names[self.winner]
        if not leads:
            text = say.text("ending", STORIES["match/always you" if won else "match/always"], name=name)
            return Story(text, self.view.version, self.ended.number)
        last = leads[-1]
        if last.seat != self.winner:
            return None
        text = say.text("ending", STORIES["match/you" if won else "match"], name=name, round=last.round)
        return Story(text, last.n, last.round)

    def _of_loser(self, blow: rules.Blow) -> Story:
        if blow.by is None:
            return self._tell("out", blow.n)
        first_line, _ = self._loss()
        # "That stack" is the one in the first line.
        if blow.by == self.winner or (blow.stack and first_line != "out/stack"):
            return self._tell("out by winner/stack" if blow.stack else "out by winner", blow.n, n=blow.stack)
        row = "out/stack" if blow.stack else "out/card" if blow.card else "out/caught"
        return self._tell(row, blow.n, blow.by, card=blow.card)

    def _of_winner(self, story: rules.RoundStory) -> Story | None:
        outs = {seat: blow for seat, blow in story.outs.items() if blow.by == self.winner}
        if outs:
            last = max(outs.values(), key=lambda blow: blow.n)
            row = "out by you/stack" if len(outs) == 1 and last.stack else "out by you"
            return self._tell(row, last.n, out=list(outs), n=last.stack)
        if taken := self._biggest_stack(self.winner):
            return self._tell("won/survived", taken.n, n=taken.amount)
        sent, win = story.feats[self.winner].sent, story.win
        if win is None:
            return None
        if sent >= BIG_STACK:
            return self._tell("won/sent", win.n, n=sent)
        if story.outs or win.by != self.winner or not win.card:
            return None
        return self._tell("won/card", win.n, card=win.card)

    def _of_others(self, story: rules.RoundStory) -> Story | None:
        if self.view.you not in (None, self.winner) and (taken := self._biggest_stack(self.view.you)):
            return self._tell("took", taken.n, n=taken.amount)
        if story.outs:
            out, blow = max(story.outs.items(), key=lambda item: item[1].n)
            if blow.by is None:
                return self._tell("out by nobody", blow.n, out=[out])
            row = "out by you" if blow.by == self.view.you else "out of others"
            return self._tell(f"{row}/stack" if blow.stack else row, blow.n, blow.by, out=[out], n=blow.stack)
        if taken := self._biggest_stack():
            return self._tell("stack", taken.n, taken.seat, n=taken.amount)
        if story.win is None or not story.win.card:
            return None
        return self._tell("card", story.win.n, story.win.by, card=story.win.card)

    def _biggest_stack(self, seat: int | None = None) -> rules.KeyMoment | None:
        """Return when this seat, or anybody, drew the most owed cards in this round, None if it was a small stack."""
        found = [one for one in self.moments if (one.kind, one.round) == ("took_stack", self.ended.number)]
        mine = [moment for moment in found if seat in (None, moment.seat)]
        return max(mine, key=lambda moment: moment.amount, default=None)
