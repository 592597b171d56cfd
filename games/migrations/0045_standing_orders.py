"""Stores the standing orders of seats, and which moves they made."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0044_reactions_of_bots")]

    operations = [
        migrations.AddField("seat", "orders", models.JSONField(blank=True, null=True)),
        migrations.AddField("move", "by_order", models.BooleanField(db_default=False, default=False)),
    ]
