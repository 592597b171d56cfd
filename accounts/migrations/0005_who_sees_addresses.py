"""Add the permission to see mail addresses. Only admins have it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_answered"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="user",
            options={"permissions": [("see_address", "Can see mail addresses")]},
        ),
    ]
