"""Keep the name of the reported person in each report."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0051_appeals_end_with_their_suspension")]

    operations = [
        migrations.AddField(
            "report", "called", models.CharField(blank=True, db_default="", default="", max_length=150)
        ),
    ]
