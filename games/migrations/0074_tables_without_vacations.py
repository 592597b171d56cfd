"""Adds whether vacations stop the clocks of a table. All earlier tables have vacations."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0073_what_players_did")]

    operations = [
        migrations.AddField("game", "vacations", models.BooleanField(db_default=True, default=True)),
    ]
