"""Gives the tables of notices and of the outbox to the app `mail`. They are renamed, not copied."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0070_notice_facts")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.AlterModelTable("notice", "mail_delivery"),
                migrations.AlterModelTable("outbox", "mail_outbox"),
            ],
            state_operations=[migrations.DeleteModel("Notice"), migrations.DeleteModel("Outbox")],
        )
    ]
