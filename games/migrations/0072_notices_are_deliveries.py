"""Notices are those deliveries that go to people. No table changes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("games", "0071_notices_move_to_mail"), ("mail", "0002_account_mails_are_deliveries")]

    operations = [migrations.CreateModel("Notice", [], {"proxy": True}, bases=("mail.delivery",))]
