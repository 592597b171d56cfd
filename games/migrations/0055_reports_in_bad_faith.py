"""Add the outcome of a case that was reported in bad faith."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0054_work_on_cases")]

    operations = [
        migrations.AlterField(
            "case",
            "outcome",
            models.CharField(
                blank=True,
                choices=[
                    ("acted", "We agreed and acted on it"),
                    ("nothing", "We found nothing against the rules"),
                    ("unclear", "We could not tell"),
                    ("badfaith", "It was reported in bad faith"),
                ],
                default="",
                max_length=8,
            ),
        ),
    ]
