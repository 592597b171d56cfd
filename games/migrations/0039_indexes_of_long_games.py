import django.db.models.deletion
from django.db import migrations, models

OPEN = models.Index(
    fields=["user", "game"],
    name="notice_open",
    condition=models.Q(state="waiting") | models.Q(channel="site", state="sent", read_at=None),
)


class Migration(migrations.Migration):
    """Lets the statements of a move find their rows by the right index before PostgreSQL has statistics of a table.

    Until then indexes that fit cost the same for the planner, and it takes the one made last. A connection keeps the
    plan, so a move of a game of 500 moves read all its moves and notices.
    """

    dependencies = [
        ("games", "0038_moves_that_open_cases"),
    ]

    operations = [
        migrations.AlterField(
            model_name="move",
            name="game",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="moves", to="games.game"
            ),
        ),
        # Made again, so that it is newer than `notice_once` and `notice_of_user`.
        migrations.RemoveIndex(model_name="notice", name="notice_open"),
        migrations.AddIndex(model_name="notice", index=OPEN),
    ]
