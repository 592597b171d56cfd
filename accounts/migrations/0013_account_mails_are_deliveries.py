"""Moves the mails to the table of `mail`, under new numbers, and drops their own.

A mail that was tried before the upgrade and is tried again gets another Message-ID, which has its number.
"""

from django.db import migrations

# In one transaction, and with the lock: a sender of the former release that is still running must not hand over a mail
# that was copied, and nobody may write one that would be dropped.
MOVE = """
    LOCK TABLE accounts_accountmail IN ACCESS EXCLUSIVE MODE;
    INSERT INTO mail_delivery
        (user_id, version, kind, channel, occasion, facts, address, mailbox,
         state, reason, created_at, due_at, since, tries, claim)
    SELECT user_id, 0, kind, 'email', 0, facts, address, mailbox,
           state, reason, created_at, due_at, since, tries, claim
    FROM accounts_accountmail ORDER BY id;
    SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0012_names_are_checked_when_chosen"),
        ("mail", "0002_account_mails_are_deliveries"),
    ]

    operations = [
        migrations.RunSQL(MOVE),
        migrations.DeleteModel("AccountMail"),
        migrations.CreateModel("AccountMail", [], {"proxy": True}, bases=("mail.delivery",)),
    ]
