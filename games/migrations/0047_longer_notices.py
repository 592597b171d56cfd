"""Lets a notice contain the whole answer to an appeal."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0045_standing_orders")]

    operations = [
        migrations.AlterField("notice", "text", models.CharField(blank=True, default="", max_length=600)),
    ]
