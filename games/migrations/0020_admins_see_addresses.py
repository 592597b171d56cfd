"""Let admins see mail addresses. Moderators cannot."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [("games", "0019_audit_is_emptied_in_tests_alone"), ("accounts", "0005_who_sees_addresses")]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
