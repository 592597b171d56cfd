"""Keep the titles of notice kinds and channels out of the database, so that changing one needs no migration."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("games", "0027_guest_that_a_form_made")]

    operations = [
        migrations.AlterField(model_name="notice", name="kind", field=models.CharField(max_length=16)),
        migrations.AlterField(model_name="notice", name="channel", field=models.CharField(max_length=16)),
    ]
