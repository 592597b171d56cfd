from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    # Tables that are open now count from the migration. PostgreSQL stores one default for all rows and rewrites none.
    dependencies = [("games", "0035_ended_games_by_time")]

    operations = [
        migrations.AddField(
            model_name="game",
            name="people_changed_at",
            field=models.DateTimeField(db_default=Now(), editable=False),
        ),
    ]
