"""Note when a copy of somebody's data is made, so that one that failed waits behind the others."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("games", "0058_data_copies")]

    operations = [
        migrations.AddField("datacopy", "due_at", models.DateTimeField(db_default=Now())),
        migrations.AlterField("datacopy", "due_at", models.DateTimeField()),
    ]
