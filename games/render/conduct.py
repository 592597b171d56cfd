"""The page of somebody who is suspended."""

from __future__ import annotations

from dataclasses import dataclass

from games.models.moderation import WORDS_LENGTH, Appeal, Suspension
from games.refusals import Denied


@dataclass(frozen=True, slots=True)
class SuspendedPage:
    """A suspension, and its appeal if there is one.

    If an appeal has just been refused, `refusal` says why and `text` is what was written. `longest` is the greatest
    number of characters of an appeal.
    """

    suspension: Suspension
    appeal: Appeal | None
    refusal: Denied | None
    text: str
    longest: int = WORDS_LENGTH
