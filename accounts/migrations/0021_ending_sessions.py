"""Marks sessions that have been continued under another key, which nothing makes last longer."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0020_skeletons_without_spaces")]

    operations = [
        migrations.AddField("session", "ending", models.BooleanField(db_default=False, default=False)),
    ]
