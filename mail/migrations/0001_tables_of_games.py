"""Takes over the tables that `games` has renamed (0071), as they are."""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

STATES = [
    ("waiting", "Waiting"),
    ("sending", "Being sent"),
    ("handed", "Handed over"),
    ("sent", "Sent"),
    ("dropped", "Not sent"),
    ("failed", "Failed"),
]


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("games", "0071_notices_move_to_mail"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    "Delivery",
                    [
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("state", models.CharField(choices=STATES, default="waiting", max_length=8)),
                        ("reason", models.CharField(blank=True, default="", max_length=16)),
                        ("created_at", models.DateTimeField()),
                        ("due_at", models.DateTimeField()),
                        ("since", models.DateTimeField()),
                        ("tries", models.PositiveSmallIntegerField(default=0)),
                        ("claim", models.UUIDField(blank=True, null=True)),
                        ("version", models.PositiveIntegerField()),
                        ("kind", models.CharField(max_length=16)),
                        ("channel", models.CharField(max_length=16)),
                        ("occasion", models.PositiveBigIntegerField(default=0)),
                        ("said", models.CharField(blank=True, db_default="", default="", max_length=32)),
                        ("facts", models.JSONField(blank=True, db_default={}, default=dict)),
                        ("text", models.CharField(blank=True, db_default="", default="", max_length=600)),
                        ("read_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "game",
                            models.ForeignKey(
                                blank=True,
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deliveries",
                                to="games.game",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deliveries",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    {
                        "verbose_name_plural": "deliveries",
                        "indexes": [
                            models.Index(fields=["due_at"], name="notice_due", condition=models.Q(state="waiting")),
                            models.Index(
                                fields=["since"],
                                name="notice_under_way",
                                condition=models.Q(state__in=("sending", "handed")),
                            ),
                            models.Index(
                                fields=["user", "game"],
                                name="notice_open",
                                condition=models.Q(state="waiting")
                                | models.Q(channel="site", state="sent", read_at=None),
                            ),
                            models.Index(fields=["user", "-id"], name="notice_of_user"),
                            django.contrib.postgres.indexes.BrinIndex(fields=["created_at"], name="notice_age"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=["game", "user", "version", "kind", "channel", "occasion"],
                                name="notice_once",
                                nulls_distinct=False,
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Outbox",
                    [
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("held_since", models.DateTimeField(blank=True, null=True)),
                        ("held_why", models.CharField(blank=True, default="", max_length=200)),
                        ("retry_at", models.DateTimeField(blank=True, null=True)),
                        ("failures", models.PositiveIntegerField(default=0)),
                    ],
                    {
                        "verbose_name_plural": "outbox",
                        "constraints": [models.CheckConstraint(condition=models.Q(id=1), name="outbox_has_one_row")],
                    },
                ),
            ]
        )
    ]
