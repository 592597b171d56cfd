"""What the outbox delivers, and the state of the outbox. `mail.sources` says who writes the rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.postgres.indexes import BrinIndex
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q

from common.say import N_
from mail.addresses import LONGEST_ADDRESS

EMAIL: Final = "email"
HOOK: Final = "hook"
PUSH: Final = "push"
SITE: Final = "site"
"""The names of channels, as stored. `mail.channels` has their rows."""
TEXT_LENGTH: Final = 600
"""The most characters that a notice says: sentences and the longest answer of staff. A longer text is cut off."""
TO_PERSON: Final = Q(mailbox="")
TO_ADDRESS: Final = ~TO_PERSON
"""Conditions: a notice to a person, whose address is looked up when it is sent, or a mail about an address."""


class Delivery(models.Model):
    """One thing that is told to one person through one channel, written in the transaction of what it is about.

    It is `waiting` until `due_at`, when the outbox checks whether it is still needed. Then it is shown or handed over
    (`sent`), dropped with a `reason` (`dropped`), or given up (`failed`). A mail is claimed first (`sending`), and
    marked `handed` just before the mail server gets it. `since` is when the state last changed.

    No row holds a token, because links are made when a mail is sent.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        SENDING = "sending", "Being sent"
        HANDED = "handed", "Handed over"
        SENT = "sent", "Sent"
        DROPPED = "dropped", "Not sent"
        FAILED = "failed", "Failed"

    # None for a mail to an address if the person who asked for it is not known to own an account.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    # Null if it is not about a game.
    game = models.ForeignKey(
        "games.Game", null=True, blank=True, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    # That of the game; of a digest the number of its day.
    version = models.PositiveIntegerField(default=0)
    kind = models.CharField(max_length=60)  # a name in the `kinds` of a source
    channel = models.CharField(max_length=16)  # a name in `mail.channels.CHANNELS`
    # What the notice was written for. Tells notices apart that are equal in all other fields:
    # - a time in seconds since the epoch for a reminder, a seat taken over by a bot, or a day of vacation taken
    #   automatically
    # - the number of the audit entry for a seat, a role or a second factor that staff gave or took away, for the turn
    #   that comes with such a seat, and for a changed outcome of a report
    # - the number of the case for a new case or a settled report, and of the appeal for one that arrived or is decided
    # - the number of the person who asks for a rematch
    # - 0 for all others
    occasion = models.PositiveBigIntegerField(default=0)
    # The names of the sentences that say what happened, which the row of the kind has; "" if the page of the game says
    # it, and in rows that have a `text`.
    said = models.CharField(max_length=32, blank=True, default="", db_default="")
    # What the sentences need: numbers, times in ISO 8601, people by their id, an event as its reader may see it.
    facts = models.JSONField(blank=True, default=dict, db_default={})
    # The sentence itself, of notices that release 0.1 wrote. The last of them are deleted 60 days after the upgrade
    # (`games.notices.preferences.KEPT`): a later release can drop the column, `games.notices.old_texts` and
    # `User.former_names`.
    text = models.CharField(max_length=TEXT_LENGTH, blank=True, default="", db_default="")
    read_at = models.DateTimeField(null=True, blank=True)
    # Of a mail about an address: where it goes, in the spelling of `addresses.canonical`.
    address = models.EmailField(max_length=LONGEST_ADDRESS, blank=True, default="", db_default="")
    # Of such a mail what limits count: the mailbox (`addresses.mailbox_of`), or for a new password a confirmed address.
    mailbox = models.EmailField(max_length=LONGEST_ADDRESS, blank=True, default="", db_default="")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    # Why it was dropped, failed or waits longer: a name in `mail.verdicts.Reason`.
    reason = models.CharField(max_length=16, blank=True, default="")
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    since = models.DateTimeField()
    # Failures in a row, of the check or of sending.
    tries = models.PositiveSmallIntegerField(default=0)
    # The claim of the outbox that is sending it.
    claim = models.UUIDField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = (
            models.UniqueConstraint(
                fields=["game", "user", "version", "kind", "channel", "occasion"],
                name="notice_once",
                # With the game, its deletion finds the rows by this index.
                condition=TO_PERSON | Q(game__isnull=False),
                nulls_distinct=False,
            ),
            # Without a user to count requests for, one waiting mail answers all requests like it.
            models.UniqueConstraint(
                fields=["kind", "address"],
                name="mail_asked_once",
                condition=Q(user=None, state__in=("waiting", "sending", "handed")),
            ),
        )
        indexes = (
            # The sender reads the first rows of these two, however many wait.
            models.Index(
                fields=["channel", "due_at", "id"], name="notice_due", condition=Q(TO_PERSON, state="waiting")
            ),
            models.Index(fields=["due_at", "id"], name="mail_due", condition=Q(TO_ADDRESS, state="waiting")),
            models.Index(fields=["since"], name="notice_under_way", condition=Q(state__in=("sending", "handed"))),
            models.Index(
                fields=["user", "game"],
                name="notice_open",
                condition=Q(state="waiting") | Q(channel=SITE, state="sent", read_at=None),
            ),
            models.Index(fields=["user", "-id"], name="notice_of_user"),
            BrinIndex(fields=["created_at"], name="notice_age"),
            models.Index(fields=["user", "kind"], name="mail_of_user", condition=TO_ADDRESS),
            models.Index(fields=["since"], name="mail_age", condition=TO_ADDRESS),
            models.Index(
                fields=["mailbox", "kind", "due_at"],
                name="mail_to_mailbox",
                condition=Q(TO_ADDRESS, state="waiting"),
            ),
            models.Index(
                fields=["mailbox", "kind", "since"],
                name="mail_gone_out",
                condition=Q(TO_ADDRESS, state__in=("sending", "handed", "sent", "failed")),
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} to {self.user_id} by {self.channel}"


class Outbox(models.Model):
    """Whether anything may be sent, and the state of the mail server, in a single row."""

    # Nothing is sent since then, for the reason `held_why`. Notices are still shown on the site.
    held_since = models.DateTimeField(null=True, blank=True)
    held_why = models.CharField(max_length=200, blank=True, default="")
    # When the mail server is tried again.
    retry_at = models.DateTimeField(null=True, blank=True)
    # In a row.
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "outbox"
        constraints = (models.CheckConstraint(condition=Q(id=1), name="outbox_has_one_row"),)

    def __str__(self) -> str:
        return "held" if self.held_since else "open"


class SiteKey(models.Model):
    """The key by which push services know the site, in a single row.

    Browsers subscribe with its public half. A new key would silence them all, so it is not derived from `SECRET_KEY`,
    and is part of every backup.
    """

    # Encrypted (`common.encryption`).
    private = models.TextField()
    # The point of the curve, in base64url.
    public = models.CharField(max_length=88)

    class Meta:
        constraints = (models.CheckConstraint(condition=Q(id=1), name="one_site_key"),)

    def __str__(self) -> str:
        return "the key for push services"


class PushSubscription(models.Model):
    """A browser that shows a person's notices (RFC 8030). It ends with the session that it was made in."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="push_subscriptions")
    # The database deletes the subscription with the session (migration 0003), however that ends, so that nothing
    # here depends on who ends it, and none can be stored for a session that ends meanwhile.
    session = models.ForeignKey(
        "accounts.Session", on_delete=models.DO_NOTHING, db_constraint=False, related_name="push_subscriptions"
    )
    # A secret: who has it can post to the browser, though nothing that it can decrypt.
    endpoint = models.TextField()
    # SHA-256 of the endpoint.
    digest = models.CharField(max_length=64, unique=True)
    # The key and the secret of the browser, as in RFC 8291.
    public = models.BinaryField(max_length=65)
    auth = models.BinaryField(max_length=16)
    # The browser in words of ours.
    label = models.CharField(max_length=60)
    # Others may look at this device: it shows no names.
    hides_names = models.BooleanField(default=False, db_default=False)
    # The mail about a turn does not wait after this device was notified.
    mail_too = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField()
    # When its push service last accepted a message.
    ok_at = models.DateTimeField(null=True, blank=True)
    # How many messages in a row its push service refused for good.
    refusals = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return f"push to {self.label}"


class Hook(models.Model):
    """Where a person's notices are posted: a channel of a chat, or a program. It works if `User.has_hook` is true."""

    class Form(models.TextChoices):
        """What is posted. `mail.hook_payloads` makes it."""

        AUTO = "auto", N_("Chosen by the address")
        DISCORD = "discord", N_("Discord")
        SLACK = "slack", N_("Slack, Mattermost or Google Chat")
        NTFY = "ntfy", N_("ntfy")
        JSON = "json", N_("JSON, for programs")

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="hook")
    # A secret: who has it can write to the channel. Pages show its host only, also to the person.
    url = models.CharField(max_length=2048)
    form = models.CharField(max_length=8, choices=Form, default=Form.AUTO)
    # The person's id in the chat, which a message about their turn mentions.
    mention = models.CharField(max_length=40, blank=True, default="")
    # It also gets the turns of the others at tables that the person has opened since then: each of these tables said
    # so to everybody who sat down.
    others_since = models.DateTimeField(null=True, blank=True)
    # Signs what is posted (https://www.standardwebhooks.com). Encrypted (`common.encryption`).
    secret = models.CharField(max_length=300)
    created_at = models.DateTimeField()
    # When a message last arrived.
    ok_at = models.DateTimeField(null=True, blank=True)
    # In a row, and since when.
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True, blank=True)
    # What the last failure was: a name in `mail.hooks.ERRORS`.
    last_error = models.CharField(max_length=16, blank=True, default="")
    # Nothing is posted before that.
    retry_at = models.DateTimeField(null=True, blank=True)
    # Nothing is posted since then, until the person tries again.
    stopped_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"the webhook of person {self.user_id}"

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the hook, and note that the person has none."""
        with transaction.atomic():
            deleted = super().delete(*args, **kwargs)
            note_reached([self.user_id])
            return deleted

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""


def lock_people(people: Iterable[int]) -> None:
    """Lock these people (ids) until the end of the transaction, before what reaches them changes."""
    list(get_user_model().objects.select_for_update(no_key=True).filter(pk__in=people).order_by("pk").values("pk"))


@transaction.atomic
def note_reached(people: Iterable[int]) -> None:
    """Store which of these people (ids) have a device, and which a hook that works. Locks them."""
    people, users = list(people), get_user_model().objects
    lock_people(people)
    devices = PushSubscription.objects.filter(user=OuterRef("pk"))
    hooks = Hook.objects.filter(user=OuterRef("pk"), stopped_at=None)
    users.filter(pk__in=people).update(has_push=Exists(devices), has_hook=Exists(hooks))


ENCRYPTED: Final = ((SiteKey, "private"), (Hook, "secret"))
"""The encrypted columns of these tables, for `accounts.actions.reencrypt_columns`."""
