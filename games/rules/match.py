"""A match: its scores, its dealer and its winner."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from games.rules.deal import next_dealer
from games.rules.options import Options
from games.rules.scoring import Outcome


@dataclass(frozen=True, slots=True)
class Match:
    """A match after its latest round was dealt.

    ``scores`` has one number a seat. ``dealer`` is the seat that dealt the latest round. ``absent`` are the seats that
    have left the match. ``rounds`` is how many rounds have ended; a void round does not count.
    """

    options: Options
    scores: tuple[int, ...]
    dealer: int
    absent: Collection[int] = ()
    rounds: int = 0

    def with_result(self, ended: Outcome) -> Match:
        """Return the match with its latest round and the points of it added (SCORE-2)."""
        scores = tuple(score + ended.gained(seat) for seat, score in enumerate(self.scores))
        return replace(self, scores=scores, rounds=self.rounds + 1)

    def winner(self, ended: Outcome) -> int | None:
        """Return the seat that has won the match, or None if another round is due (SCORE-3, LEAVE-1, MATCH-1).

        ``ended`` is the end of the latest round. The scores must include its points (``with_result``). With ``target``
        0 and ``rounds`` 0 or 1 the winner of the round has won the match. A tie for the best score is decided by
        another round.
        """
        options = self.options
        left = [seat for seat in range(len(self.scores)) if seat not in self.absent]
        if len(left) == 1:
            return left[0]
        if not options.is_match:
            return ended.winner
        played_all = options.rounds and self.rounds >= options.rounds
        reached = options.target and any(self.scores[seat] >= options.target for seat in left)
        if not (played_all or reached):
            return None
        best = (max if options.scoring == "winner" else min)(self.scores[seat] for seat in left)
        winners = [seat for seat in left if self.scores[seat] == best]
        return winners[0] if len(winners) == 1 else None

    @property
    def dealer_after_void(self) -> int:
        """The dealer of the round after a void one: the same seat, or the next if it has left (SETUP-5)."""
        return self.next_dealer if self.dealer in self.absent else self.dealer

    @property
    def next_dealer(self) -> int:
        """The seat that deals the next round (SETUP-5)."""
        return next_dealer(self.dealer, len(self.scores), self.absent)
