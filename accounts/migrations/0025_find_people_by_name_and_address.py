"""Find people by a name in any case, and by mail address, without reading all others."""

from django.db import migrations, models
from django.db.models.functions import Upper


class Migration(migrations.Migration):
    dependencies = [("accounts", "0024_session_mark")]

    operations = [
        migrations.AddIndex("user", models.Index(Upper("username"), name="accounts_user_username")),
        migrations.AddIndex("user", models.Index(Upper("display_name"), name="accounts_user_display_name")),
        migrations.AddIndex("user", models.Index(Upper("neutral_name"), name="accounts_user_neutral_name")),
        migrations.AddIndex("user", models.Index(fields=["email"], name="accounts_user_email")),
    ]
