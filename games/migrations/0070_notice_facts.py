"""Lets notices keep what their sentence needs, instead of the sentence."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0069_columns_say_what_they_hold")]

    operations = [
        migrations.AddField("notice", "said", models.CharField(blank=True, db_default="", default="", max_length=32)),
        migrations.AddField("notice", "facts", models.JSONField(blank=True, db_default={}, default=dict)),
        migrations.AlterField(
            "notice", "text", models.CharField(blank=True, db_default="", default="", max_length=600)
        ),
    ]
