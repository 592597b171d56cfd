from datetime import timedelta

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import F


def mark(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Mark the open tables whose host was a new account when they made it. The mark is only read for open tables."""
    games = apps.get_model("games", "Game").objects
    young = games.filter(status="open", host__date_joined__gt=F("created_at") - timedelta(days=1))
    young.update(hosted_by_newcomer=True)


class Migration(migrations.Migration):
    dependencies = [("games", "0064_lost_hands")]

    operations = [
        migrations.RemoveIndex(model_name="game", name="game_open_by_host"),
        migrations.RenameField(model_name="game", old_name="hosted_by_guest", new_name="hosted_by_newcomer"),
        migrations.RunPython(mark, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                condition=models.Q(("is_public", True), ("status", "open")),
                fields=["hosted_by_newcomer", "-id"],
                name="game_open_by_host",
            ),
        ),
    ]
