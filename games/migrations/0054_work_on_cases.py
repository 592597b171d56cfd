"""Keep since when somebody works on a case, and give the roles the permissions of the new acts."""

from __future__ import annotations

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def date_taken_cases(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    entries = apps.get_model("games", "AuditEntry").objects
    for case in apps.get_model("games", "Case").objects.filter(holder__isnull=False):
        taken = entries.filter(person=case.person_id, act="hold", details__case=case.pk).order_by("-pk").first()
        case.held_at = taken.at if taken else case.opened_at
        case.save(update_fields=["held_at"])


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    from games.staff.roles import set_roles  # noqa: PLC0415  # a migration is read before Django is set up

    set_roles()


class Migration(migrations.Migration):
    dependencies = [("games", "0057_names_beside_the_audit_log")]

    operations = [
        migrations.AddField("case", "held_at", models.DateTimeField(null=True)),
        migrations.RunPython(date_taken_cases, migrations.RunPython.noop),
        migrations.RunPython(make_roles, migrations.RunPython.noop),
    ]
