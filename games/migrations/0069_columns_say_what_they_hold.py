"""Renames columns to what they hold."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0068_revision")]

    operations = [
        migrations.RenameField("game", "rested_until", "vacation_counted_until"),
        migrations.RenameField("game", "quiet_given", "quiet_seconds_added"),
        migrations.RenameField("game", "looked_at", "hands_viewed_at"),
        migrations.RenameField("seat", "seen", "end_seen_version"),
    ]
