"""Hold a name for some time after its owner gave it up."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0016_account_mails"),
    ]

    operations = [
        migrations.AddField(
            model_name="nameskeleton",
            name="freed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="nameskeleton",
            name="user",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="name_skeletons",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
