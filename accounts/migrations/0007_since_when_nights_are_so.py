"""Store when a person last changed their quiet hours or time zone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_users_are_people"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="quiet_since",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
