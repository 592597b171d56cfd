"""Mails that networks ask for to one mailbox are sent in turns, so a request keeps a keyed hash of its network."""

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
