"""Index the marks of browsers, so that the other accounts of a browser are found."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0052_names_in_reports")]

    operations = [
        migrations.AddIndex("browsermark", models.Index(fields=["mark"], name="browser_mark_of_browser")),
    ]
