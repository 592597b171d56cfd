"""Index public tables in the order in which the API lists them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0036_when_people_changed"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                condition=models.Q(("is_public", True), ("status__in", ("open", "playing"))),
                fields=["status", "-created_at", "-id"],
                name="game_public_listed",
            ),
        ),
    ]
