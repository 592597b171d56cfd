"""Find the mails that wait for a mailbox, and those that have gone out to it, without reading all others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0018_network_of_account_mails"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="accountmail",
            name="account_mail_of_mailbox",
        ),
        migrations.AddIndex(
            model_name="accountmail",
            index=models.Index(
                condition=models.Q(("state", "waiting")),
                fields=["mailbox", "kind", "due_at"],
                name="account_mail_to_mailbox",
            ),
        ),
        migrations.AddIndex(
            model_name="accountmail",
            index=models.Index(
                condition=models.Q(("state__in", ("sending", "handed", "sent", "failed"))),
                fields=["mailbox", "kind", "since"],
                name="account_mail_gone_out",
            ),
        ),
    ]
