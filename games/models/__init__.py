"""What is stored. `tables`: a table and who sits there; `play`: rounds, hands and the log of moves."""

from games.models.play import Hand, Move, Round
from games.models.tables import Game, Heartbeat, Invitation, Seat

__all__ = ["Game", "Hand", "Heartbeat", "Invitation", "Move", "Round", "Seat"]
