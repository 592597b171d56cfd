from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from games.models.tables import new_invite_key


def renew_repeated(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give a new key to each table that has the key of an older one. Only rows that were copied by hand can have it."""
    games = apps.get_model("games", "Game").objects
    repeated = games.values("invite_key").annotate(first=models.Min("pk"), number=models.Count("pk"))
    for one in repeated.filter(number__gt=1):
        for game in games.filter(invite_key=one["invite_key"], pk__gt=one["first"]):
            game.invite_key = new_invite_key()
            game.save(update_fields=["invite_key"])


class Migration(migrations.Migration):
    dependencies = [("games", "0032_table_events")]

    operations = [
        migrations.RunPython(renew_repeated, migrations.RunPython.noop, elidable=True),
        migrations.AddConstraint(
            model_name="game",
            constraint=models.UniqueConstraint(fields=("invite_key",), name="game_once_per_invite_key"),
        ),
    ]
