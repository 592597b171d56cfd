"""Hold the look of every existing name. Names that collide, or would be refused today, stay and get an objection."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from accounts.names import Person, held_names


def hold_names(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    user, name_skeleton = (apps.get_model("accounts", name) for name in ("User", "NameSkeleton"))
    people = user.objects.order_by("pk").values_list("pk", "username", "display_name", "is_guest", "is_staff")
    rows = (name_skeleton(**held._asdict()) for held in held_names(Person(*row) for row in people.iterator()))
    name_skeleton.objects.bulk_create(rows, batch_size=1000)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0011_name_skeletons"),
    ]

    operations = [
        migrations.RunPython(hold_names, migrations.RunPython.noop),
    ]
