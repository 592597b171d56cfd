"""Notices to people who are away, on the site and by mail.

`kinds` is the table of all kinds of notices. `player_notices` and `staff_notices` write notices in the transaction of a
move or a staff act, and `reminders` before a deadline. `source` is what the outbox (`mail`) gets from here: it lets due
notices be checked again (`recheck`) and made into mails (`notice_mails`, `emails`). `preferences` stores what a person
wants to get. `inbox` reads a person's notices, `render` shows them, and `mail_links` makes the links in mails.
"""
