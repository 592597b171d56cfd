"""Gives the permission to remove somebody's webhook to the groups of staff."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

ROLES = "792fd84157bc8116"  # a digest of `roles.ROLES`, with which a test sees a change that has no migration


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [("games", "0077_orders_for_the_own_turn"), ("mail", "0004_webhooks")]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
