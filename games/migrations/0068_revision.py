"""Adds the number that open pages compare, and that each visible change of a game raises."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0067_close_with_tables")]

    operations = [
        migrations.AddField(
            model_name="game",
            name="revision",
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
    ]
