"""Adds whether push and a webhook reach somebody, and whether the page asks before it plays a card."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0015_shown_sleep")]

    operations = [
        migrations.AddField(
            "user",
            "confirm",
            models.CharField(
                choices=[
                    ("taps", "If I tap, where turns are long"),
                    ("all", "For every tap, click and key"),
                    ("off", "Never"),
                ],
                db_default="taps",
                default="taps",
                editable=False,
                max_length=4,
            ),
        ),
        migrations.AddField("user", "has_push", models.BooleanField(db_default=False, default=False, editable=False)),
        migrations.AddField("user", "has_hook", models.BooleanField(db_default=False, default=False, editable=False)),
    ]
