"""What is stored. `tables`: a table and who sits there; `play`: rounds, hands and the log of moves;
`moderation`: what staff did, and the cases before them.
"""

from games.models.moderation import Appeal, AuditEntry, BrowserMark, Case, Report, Suspension, Warned
from games.models.play import Hand, Move, Round
from games.models.tables import Game, Heartbeat, Invitation, Seat

__all__ = [
    "Appeal",
    "AuditEntry",
    "BrowserMark",
    "Case",
    "Game",
    "Hand",
    "Heartbeat",
    "Invitation",
    "Move",
    "Report",
    "Round",
    "Seat",
    "Suspension",
    "Warned",
]
