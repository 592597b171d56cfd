"""The models, and the SQL that reads them on every move and page.

- `tables`: tables and seats; `paces`: their time controls; `orders`: standing orders
- `play`: rounds, hands and the log; `positions`: how a round stores its position
- `notices`: notices and notice settings
- `data_copies`: copies of their data that people ask for
- `moderation`: the audit log, warnings, suspensions, cases and reports
- `rows`, `log_rows`: fixed SQL
"""

from games.models.announcement import Announcement
from games.models.data_copies import DataCopy
from games.models.moderation import Appeal, AuditEntry, BrowserMark, Case, PersonName, Report, Suspension, Warned
from games.models.notices import Notice, NoticeSettings
from games.models.play import Hand, Move, Round, TableEvent
from games.models.tables import Game, Heartbeat, Invitation, Seat

__all__ = [
    "Announcement",
    "Appeal",
    "AuditEntry",
    "BrowserMark",
    "Case",
    "DataCopy",
    "Game",
    "Hand",
    "Heartbeat",
    "Invitation",
    "Move",
    "Notice",
    "NoticeSettings",
    "PersonName",
    "Report",
    "Round",
    "Seat",
    "Suspension",
    "TableEvent",
    "Warned",
]
