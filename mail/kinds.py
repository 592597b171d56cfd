"""What every kind of notice or mail has. The sources of notices (`mail.sources`) add what only they need."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of notice or mail.

    name: The stored value.
    title: The name on pages and in mails.
    turn: It is about the player's turn. Such a notice has no text of its own and is dropped when the turn is over. Its
        mail does not wait for the morning if the turn ends before that or soon after.
    on_vacation, in_quiet_hours: Send the mail during that time too, instead of waiting for its end.
    while_suspended: Send the mail to a suspended person too.
    """

    name: str
    title: str
    turn: bool = field(default=False, kw_only=True)
    on_vacation: bool = field(default=False, kw_only=True)
    in_quiet_hours: bool = field(default=False, kw_only=True)
    while_suspended: bool = field(default=False, kw_only=True)
