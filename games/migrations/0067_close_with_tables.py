"""Gives the permission to close an account together with its open tables to the groups of staff."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

ROLES = "a36d744e49cf3e00"  # a digest of `roles.ROLES`, with which a test sees a change that has no migration


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [("games", "0066_answers_to_invitations")]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
