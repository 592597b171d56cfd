"""Drops the table of mails, whose rows `mail` has moved to its own."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0012_names_are_checked_when_chosen"),
        ("mail", "0002_account_mails_are_deliveries"),
    ]

    operations = [
        migrations.DeleteModel("AccountMail"),
        migrations.CreateModel("AccountMail", [], {"proxy": True}, bases=("mail.delivery",)),
    ]
