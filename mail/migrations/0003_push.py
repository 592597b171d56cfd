"""Adds the browsers that get notices by web push, and the key of the site for it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0016_reach"),
        ("mail", "0002_account_mails_are_deliveries"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SiteKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("private", models.TextField()),
                ("public", models.CharField(max_length=88)),
            ],
            options={"constraints": [models.CheckConstraint(condition=models.Q(id=1), name="one_site_key")]},
        ),
        migrations.CreateModel(
            name="PushSubscription",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("endpoint", models.TextField()),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("public", models.BinaryField(max_length=65)),
                ("auth", models.BinaryField(max_length=16)),
                ("label", models.CharField(max_length=60)),
                ("hides_names", models.BooleanField(db_default=False, default=False)),
                ("mail_too", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField()),
                ("ok_at", models.DateTimeField(blank=True, null=True)),
                ("refusals", models.PositiveSmallIntegerField(default=0)),
                (
                    "session",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="push_subscriptions",
                        to="accounts.session",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="push_subscriptions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        # Django 5.2 has no field that lets the database delete by itself.
        migrations.RunSQL(
            "ALTER TABLE mail_pushsubscription ADD CONSTRAINT push_ends_with_session"
            " FOREIGN KEY (session_id) REFERENCES accounts_session (session_key) ON DELETE CASCADE",
            "ALTER TABLE mail_pushsubscription DROP CONSTRAINT push_ends_with_session",
        ),
    ]
