"""Seats keep what their players did in the game, for "your best" at the end of others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0072_notices_are_deliveries")]

    operations = [
        migrations.AddField("seat", "stack_sent", models.PositiveSmallIntegerField(null=True, blank=True)),
        migrations.AddField("seat", "stack_survived", models.PositiveSmallIntegerField(null=True, blank=True)),
        migrations.AddField("seat", "cards_drawn", models.PositiveIntegerField(null=True, blank=True)),
    ]
