"""Change the label of a reason to report a player."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0039_indexes_of_long_games"),
    ]

    operations = [
        migrations.AlterField(
            model_name="case",
            name="kind",
            field=models.CharField(
                choices=[
                    ("name", "An offensive name"),
                    ("abandon", "Making others wait, or leaving games"),
                    ("teaming", "Playing together, or with two accounts"),
                    ("cheating", "Cheating in another way"),
                    ("other", "Something else"),
                ],
                max_length=12,
            ),
        ),
    ]
