# A key of a limit has one row with a count. The old rows are dropped: each counts for a day at most. Mails no longer
# take turns by network.

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0010_squashed_0035_avatars")]

    operations = [
        migrations.DeleteModel("CountedTry"),
        migrations.CreateModel(
            name="CountedTry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=64, unique=True)),
                ("count", models.PositiveIntegerField()),
                ("until", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.RemoveField("accountmail", "asked_from"),
    ]
