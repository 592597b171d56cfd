"""What is stored. `tables`: a table and who sits there; `play`: rounds, hands and the log; `positions`: how
rounds and hands hold a position; `moderation`: what staff did, and the cases before them; `notices`: what people are
told while they are away.
"""

from games.models.moderation import Appeal, AuditEntry, BrowserMark, Case, Report, Suspension, Warned
from games.models.notices import Notice, NoticeSettings, Outbox
from games.models.play import Hand, Move, Round, TableEvent
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
    "Notice",
    "NoticeSettings",
    "Outbox",
    "Report",
    "Round",
    "Seat",
    "Suspension",
    "TableEvent",
    "Warned",
]
