"""Adds whether others at the table may see that somebody's quiet hours have begun."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0014_tips")]

    operations = [
        migrations.AddField("user", "shows_sleep", models.BooleanField(db_default=False, default=False)),
    ]
