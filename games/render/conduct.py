"""The page of a suspended person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from games.models.moderation import WORDS_LENGTH, Appeal, Suspension
from games.refusals import Denied


@dataclass(frozen=True, slots=True)
class SuspendedPage:
    """A suspension, and its appeal if there is one. `earlier` has the decided appeals against other suspensions.

    If the form was refused, `refusal` says why and `text` is what the person wrote. `longest` is the most characters
    that an appeal can have.
    """

    suspension: Suspension
    appeal: Appeal | None
    earlier: Sequence[Appeal]
    refusal: Denied | None
    text: str
    longest: int = WORDS_LENGTH
