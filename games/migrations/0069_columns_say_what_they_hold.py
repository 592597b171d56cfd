"""Renames columns to what they hold."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0068_revision")]

    operations = [
        migrations.RenameField("game", "rested_until", "vacation_counted_until"),
        migrations.RenameField("game", "quiet_given", "quiet_seconds_added"),
        migrations.RenameField("game", "looked_at", "hands_viewed_at"),
        migrations.RenameField("seat", "seen", "end_seen_version"),
        migrations.RenameField("game", "form", "form_key"),
        migrations.RenameField("report", "form", "form_key"),
        migrations.RenameField("game", "hosted_by_newcomer", "hosted_by_new_account"),
        migrations.RenameField("notice", "mark", "occasion"),
        migrations.RenameField("browsermark", "mark", "digest"),
        # PostgreSQL has renamed the columns in these itself.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint("report", "report_form_once"),
                migrations.AddConstraint(
                    "report", models.UniqueConstraint(fields=["reporter", "form_key"], name="report_form_once")
                ),
                migrations.RemoveIndex("game", "game_open_by_host"),
                migrations.AddIndex(
                    "game",
                    models.Index(
                        fields=["hosted_by_new_account", "-id"],
                        name="game_open_by_host",
                        condition=models.Q(status="open", is_public=True),
                    ),
                ),
                migrations.RemoveConstraint("notice", "notice_once"),
                migrations.AddConstraint(
                    "notice",
                    models.UniqueConstraint(
                        fields=["game", "user", "version", "kind", "channel", "occasion"],
                        name="notice_once",
                        nulls_distinct=False,
                    ),
                ),
                migrations.RemoveConstraint("browsermark", "browser_mark_once"),
                migrations.AddConstraint(
                    "browsermark", models.UniqueConstraint(fields=["game", "user", "digest"], name="browser_mark_once")
                ),
                migrations.RemoveIndex("browsermark", "browser_mark_of_browser"),
                migrations.AddIndex("browsermark", models.Index(fields=["digest"], name="browser_mark_of_browser")),
            ]
        ),
    ]
