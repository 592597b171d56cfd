"""Create the groups `moderator` and `admin` with their permissions."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_suspensions"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("games", "0004_audit_is_append_only"),
    ]

    operations = [migrations.RunPython(make_roles, migrations.RunPython.noop)]
