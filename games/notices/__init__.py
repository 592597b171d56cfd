"""Notices to people who are away, on the site and by mail.

`kinds` is the table of all kinds of notices. `player_notices` and `staff_notices` write notices in the transaction of a
move or a staff act, and `reminders` before a deadline. `sentences` says what happened. `outbox` delivers what is due:
it checks the rows of each `queue` again (`recheck`), makes mails (`notice_mails`, `account_mails`, `emails`) and sends
them (`sending`). `preferences` stores what a person wants to get. `inbox` reads a person's notices,
`render` shows them, and `mail_links` makes the links in mails.
"""
