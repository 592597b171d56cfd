"""Gives the roles the permission to put a neutral name in place of a username, and to restore the username."""

from __future__ import annotations

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [("games", "0049_owners_before_staff_acts"), ("accounts", "0022_neutral_names")]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
