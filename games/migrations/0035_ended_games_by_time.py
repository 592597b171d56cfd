from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0034_open_tables_of_guests")]

    operations = [
        migrations.AddIndex(
            model_name="game",
            index=models.Index(
                condition=models.Q(("finished_at__isnull", False)), fields=["finished_at"], name="game_finished_at"
            ),
        ),
    ]
