"""The announcement, and the permission of admins to show and end it."""

from __future__ import annotations

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [("games", "0061_invitations")]

    operations = [
        migrations.CreateModel(
            "Announcement",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.CharField(blank=True, max_length=200)),
                ("until", models.DateTimeField(blank=True, null=True)),
            ],
            {
                "verbose_name": "announcement",
                "verbose_name_plural": "announcement",
                "default_permissions": ("view",),
            },
        ),
        migrations.RunPython(make_roles, migrations.RunPython.noop),
    ]
