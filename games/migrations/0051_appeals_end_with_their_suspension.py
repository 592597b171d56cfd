"""Close the appeals that wait although staff have lifted or replaced their suspension."""

from __future__ import annotations

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def close_appeals(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    appeals = apps.get_model("games", "Appeal").objects.filter(decided_at=None, suspension__lifted_at__isnull=False)
    suspensions = apps.get_model("games", "Suspension").objects
    for appeal in appeals.select_related("suspension"):
        ended = appeal.suspension
        # A suspension that replaces another one begins when that one is lifted.
        replaced = suspensions.filter(person=ended.person_id, at=ended.lifted_at, pk__gt=ended.pk).exists()
        appeal.decided_at, appeal.decision = ended.lifted_at, "replaced" if replaced else "lifted"
        appeal.save(update_fields=["decided_at", "decision"])


class Migration(migrations.Migration):
    dependencies = [("games", "0050_neutral_names")]

    operations = [
        migrations.AlterField(
            model_name="appeal",
            name="decision",
            field=models.CharField(
                blank=True,
                choices=[
                    ("upheld", "The suspension stays"),
                    ("lifted", "The suspension is lifted"),
                    ("replaced", "A new suspension replaced it"),
                ],
                default="",
                max_length=8,
            ),
        ),
        migrations.RunPython(close_appeals, migrations.RunPython.noop),
    ]
