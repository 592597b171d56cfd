"""What staff did at a table, as the log there says it."""

from __future__ import annotations

from accounts.models import User
from games.actions.moderation.acts import TABLE_ACTS
from games.models import Game
from games.queries import conduct
from games.render import StaffLine


def staff_lines(game: Game, *, reader: User | None, since: int = 0, last: int | None = None) -> list[StaffLine]:
    """Return what this reader is told that staff did at this table, oldest first. Runs one query.

    It begins with version `since` and has at most the `last` newest acts. The reasons are left out.
    """
    told = [act.name for act in TABLE_ACTS.values() if act.log_sentence and (game.ended or not act.after_the_end)]
    lines = []
    for done in conduct.acts_at_table(game, told, reader=reader, since=since, last=last):
        act = TABLE_ACTS[done.act]
        assert act.log_sentence is not None
        lines.append(StaffLine(done.version, done.at, act.log_sentence(done), act.ends_round))
    return lines
