"""Store a keyed hash of the network that asked for a mail, so that networks can take turns."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0017_hold_freed_names"),
    ]

    operations = [
        migrations.AddField(
            model_name="accountmail",
            name="asked_from",
            field=models.CharField(blank=True, db_default="", default="", max_length=32),
        ),
    ]
