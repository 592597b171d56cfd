"""Store how long a person is suspended or muted, and whether they have been warned."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_rest"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="muted_until",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="suspended_until",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="warned",
            field=models.BooleanField(default=False, editable=False),
        ),
    ]
