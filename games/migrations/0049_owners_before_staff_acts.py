"""Index the audit entries of seats given away by the previous owner, for searches and people's pages."""

from django.db import migrations, models
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast


class Migration(migrations.Migration):
    dependencies = [("games", "0048_outcomes_can_change")]

    operations = [
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(
                Cast(KeyTextTransform("before_id", "details"), models.BigIntegerField()),
                name="audit_of_owner_before",
                condition=models.Q(act="move_seat"),
            ),
        ),
    ]
