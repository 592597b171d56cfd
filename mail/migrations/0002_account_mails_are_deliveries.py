"""Lets the table hold the mails about addresses too. `accounts` moves its own (0013)."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

WAITING = Q(~Q(mailbox=""), state="waiting")


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("accounts", "0012_names_are_checked_when_chosen"),
        ("mail", "0001_tables_of_games"),
    ]

    operations = [
        migrations.AddField(
            "delivery", "address", models.EmailField(blank=True, db_default="", default="", max_length=254)
        ),
        migrations.AddField(
            "delivery", "mailbox", models.EmailField(blank=True, db_default="", default="", max_length=254)
        ),
        migrations.AlterField("delivery", "kind", models.CharField(max_length=60)),
        migrations.AlterField("delivery", "version", models.PositiveIntegerField(default=0)),
        migrations.AlterField(
            "delivery",
            "user",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RemoveConstraint("delivery", "notice_once"),
        migrations.AddConstraint(
            "delivery",
            models.UniqueConstraint(
                fields=["game", "user", "version", "kind", "channel", "occasion"],
                name="notice_once",
                condition=Q(mailbox="") | Q(game__isnull=False),
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            "delivery",
            models.UniqueConstraint(
                fields=["kind", "address"],
                name="mail_asked_once",
                condition=Q(user=None, state__in=("waiting", "sending", "handed")),
            ),
        ),
        migrations.RemoveIndex("delivery", "notice_due"),
        migrations.AddIndex(
            "delivery",
            models.Index(
                fields=["channel", "due_at", "id"], name="notice_due", condition=Q(Q(mailbox=""), state="waiting")
            ),
        ),
        migrations.AddIndex("delivery", models.Index(fields=["due_at", "id"], name="mail_due", condition=WAITING)),
        migrations.AddIndex(
            "delivery", models.Index(fields=["user", "kind"], name="mail_of_user", condition=~Q(mailbox=""))
        ),
        migrations.AddIndex("delivery", models.Index(fields=["since"], name="mail_age", condition=~Q(mailbox=""))),
        migrations.AddIndex(
            "delivery",
            models.Index(fields=["mailbox", "kind", "due_at"], name="mail_to_mailbox", condition=WAITING),
        ),
        migrations.AddIndex(
            "delivery",
            models.Index(
                fields=["mailbox", "kind", "since"],
                name="mail_gone_out",
                condition=Q(~Q(mailbox=""), state__in=("sending", "handed", "sent", "failed")),
            ),
        ),
    ]
