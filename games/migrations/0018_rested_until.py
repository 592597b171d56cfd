"""Store for each clock which vacation it was moved by. Running clocks were moved by their player's last vacation."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import F


def name_vacations(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    games = apps.get_model("games", "Game").objects
    on_turn = apps.get_model("games", "Seat").objects.filter(
        game__status="playing",
        game__deadline__isnull=False,
        index=F("game__round__turn"),
        user__vacation_until__isnull=False,
    )
    for game_id, until in on_turn.values_list("game_id", "user__vacation_until").iterator():
        games.filter(pk=game_id).update(rested_until=until)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_rest"),
        ("games", "0017_reports_of_the_site_say_what_it_saw"),
    ]

    operations = [
        migrations.AddField(
            model_name="game",
            name="rested_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(name_vacations, migrations.RunPython.noop),
    ]
