"""Adds when the standing orders of the player on turn play. Running turns have none."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0076_groups_of_notices")]

    operations = [
        migrations.AddField("game", "orders_at", models.DateTimeField(blank=True, editable=False, null=True)),
    ]
