"""Stores how many of the next lines of the log were sent together with a move."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0041_tables_of_ten")]

    operations = [
        migrations.AddField("move", "further", models.PositiveSmallIntegerField(default=0, db_default=0)),
    ]
