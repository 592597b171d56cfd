from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def mark(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Mark the open tables whose host is a guest. The mark is only read for open tables."""
    games = apps.get_model("games", "Game").objects
    games.filter(status="open", host__is_guest=True).update(hosted_by_guest=True)


class Migration(migrations.Migration):
    dependencies = [("games", "0033_invite_keys_are_unique")]

    operations = [
        migrations.AddField(
            model_name="game",
            name="hosted_by_guest",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop, elidable=True),
        migrations.RemoveIndex(model_name="game", name="game_open_public"),
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                condition=models.Q(("is_public", True), ("status", "open")),
                fields=["hosted_by_guest", "-id"],
                name="game_open_by_host",
            ),
        ),
    ]
