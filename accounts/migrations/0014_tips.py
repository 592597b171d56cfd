import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0013_account_mails_are_deliveries")]

    operations = [
        migrations.AddField(
            "user",
            "seen_tips",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=16),
                blank=True,
                db_default=[],
                default=list,
                editable=False,
                size=None,
            ),
        ),
        migrations.AddField("user", "no_tips", models.BooleanField(db_default=False, default=False)),
    ]
