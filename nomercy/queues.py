"""The queues of tasks."""

from typing import Final

CLOCK: Final = "clock"
MAIL: Final = "mail"
WORK: Final = "work"
QUEUES: Final = {CLOCK: 2, WORK: 2, MAIL: 2}
"""The queues, and how many tasks of each run at once. Each has its own worker, so that neither a slow mail server nor
many bots delay the clocks. A worker without `--queues` takes tasks from all.
"""
