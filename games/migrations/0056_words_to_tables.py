"""Give the roles the permission to write to a table, and name permissions by the titles of today."""

from __future__ import annotations

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [("games", "0062_announcement")]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
