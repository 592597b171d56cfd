"""Stores when each bot reacts to the card that was just played."""

from __future__ import annotations

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0043_moves_sent_together")]

    operations = [
        migrations.AddField("game", "bots_move_at", models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.AddField(
            "game",
            "react_at",
            django.contrib.postgres.fields.ArrayField(
                models.DateTimeField(null=True), blank=True, db_default=[], default=list, editable=False
            ),
        ),
    ]
