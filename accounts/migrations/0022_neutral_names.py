"""Adds the names that staff put in place of offensive usernames."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("accounts", "0021_ending_sessions")]

    operations = [
        migrations.AddField(
            "user",
            "neutral_name",
            models.CharField(blank=True, db_default="", default="", editable=False, max_length=30),
        ),
        migrations.AddConstraint(
            "user",
            models.UniqueConstraint(
                condition=~Q(neutral_name=""), fields=["neutral_name"], name="accounts_user_neutral_name_unique"
            ),
        ),
    ]
