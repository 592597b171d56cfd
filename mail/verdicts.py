"""Why a notice is not sent, or not yet: what the check of a due notice answers, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from django.db.models import TextChoices

from common.readers_language import say
from common.say import N_


class Reason(TextChoices):
    """Why a notice was not sent or is still waiting, with the sentence for its reader."""

    MOVED = "moved", N_("You moved before it was due.")
    MOVED_ON = "moved_on", N_("It was no longer your turn.")
    JOINED = "joined", N_("You had already joined that table.")
    OVER = "over", N_("The game was over or had started without you.")
    LATER = "later", N_("The deadline had been moved.")
    LOOKING = "looking", N_("You were looking at the game.")
    READ = "read", N_("You had already read it.")
    BACK = "back", N_("You already had your seat back.")
    STAFF = "staff", N_("Staff had changed your seat since.")
    ENDED = "ended", N_("The suspension had ended.")
    NEWER = "newer", N_("A newer notification about the same report was sent instead.")
    REMINDED = "reminded", N_("A reminder about the same turn was sent instead.")
    TURN = "turn", N_("A notification about your turn comes instead.")
    ASKED = "asked", N_("You get one invitation a day by email from the same person.")
    OFF = "off", N_("This is switched off in your notification settings.")
    NO_ADDRESS = "no_address", N_("Your account has no email address.")
    NO_DEVICE = "no_device", N_("No device of yours is set up for notifications.")
    PUSHED = "pushed", N_("We notified you in another way.")
    UNVERIFIED = "unverified", N_("Your email address is not confirmed.")
    BOUNCED = "bounced", N_("Emails to your address came back.")
    NO_ROLE = "no_role", N_("You had no role on this site any more.")
    CLOSED = "closed", N_("Your account was closed or suspended.")
    NOTHING = "nothing", N_("There was nothing to report.")
    PAUSED = "paused", N_("The game is paused.")
    VACATION = "vacation", N_("You are on vacation.")
    NIGHT = "night", N_("These are your quiet hours.")
    MERGED = "merged", N_("Another mail to the same address says the same.")
    ENOUGH = "enough", N_("This mailbox has had enough such mails for an hour.")
    LATE = "late", N_("It was too old.")
    AGAIN = "again", N_("The other server did not accept it. We will try again.")
    SERVER = "server", N_("The mail server could not be reached. We will try again.")
    REFUSED = "refused", N_("The mail server says that your address does not accept mail.")
    GAVE_UP = "gave_up", N_("The other server did not accept it, and we have stopped trying.")
    NO_HOOK = "no_hook", N_("You had removed your webhook.")
    HOOK_STOPPED = "hook_stopped", N_("Your webhook has stopped because its address did not take what we sent.")
    NO_OUTGOING = "no_outgoing", N_("This site sends nothing to addresses that people give.")
    FAULT = "fault", N_("Something went wrong on our side. We’ve logged it.")
    UNSURE = "unsure", N_("The site stopped while sending it. It may or may not have arrived.")


EXPECTED: Final = frozenset(
    {
        Reason.MOVED, Reason.MOVED_ON, Reason.JOINED, Reason.LOOKING, Reason.REMINDED, Reason.READ, Reason.BACK,
        Reason.STAFF, Reason.ENDED, Reason.NEWER, Reason.OFF, Reason.TURN, Reason.ASKED,
        Reason.NO_ROLE,
    }
)  # fmt: skip
"""Reasons that need no attention. Pages hide notices that were dropped for one of these."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with a notice that is due.

    Without a `reason`, send it. With a `reason`, drop it, or check it again at `until` if that is given.
    """

    reason: Reason | Literal[""] = ""
    until: datetime | None = None


SEND: Final = Verdict()


def sentence_of(reason: str) -> str:
    """Return the sentence for a stored reason, or the reason if it was written by a later release."""
    return say.text("notice", Reason(reason).label) if reason in Reason.values else reason
