"""Keep the titles of staff acts and permissions out of the database, so that changing one needs no migration."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0028_kinds_without_choices")]

    operations = [
        migrations.AlterField(model_name="auditentry", name="act", field=models.CharField(max_length=20)),
        migrations.AlterModelOptions(
            name="auditentry",
            options={"default_permissions": ("view",), "verbose_name_plural": "audit entries"},
        ),
    ]
