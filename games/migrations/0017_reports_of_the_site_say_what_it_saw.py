"""Store on a report by the site what it noticed. Other reports without a reporter are those of deleted guests."""

from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

BEGINNINGS = {"timeouts": "The clock played ", "resignations": "This person resigned ", "browser": "One browser sat "}


def name_signs(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    reports = apps.get_model("games", "Report").objects.filter(reporter=None)
    for sign, beginning in BEGINNINGS.items():
        reports.filter(text__startswith=beginning).update(sign=sign)


class Migration(migrations.Migration):
    dependencies = [
        ("games", "0016_kind_of_taken_factors"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="report",
            name="report_once_per_case_and_game",
        ),
        migrations.AddField(
            model_name="report",
            name="sign",
            field=models.CharField(
                blank=True,
                choices=[
                    ("timeouts", "The clock played many turns"),
                    ("resignations", "Many games resigned at once"),
                    ("browser", "Two accounts in one browser"),
                ],
                default="",
                max_length=12,
            ),
        ),
        migrations.RunPython(name_signs, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.UniqueConstraint(
                fields=("case", "reporter", "game"), name="report_once_per_case_and_game"
            ),
        ),
        migrations.AddConstraint(
            model_name="report",
            constraint=models.UniqueConstraint(
                condition=models.Q(("sign", ""), _negated=True),
                fields=("case", "sign", "game"),
                name="report_once_per_case_sign_and_game",
            ),
        ),
    ]
