"""What people are told while they are away, on the site and by mail.

`kinds` is the table of all kinds of notices. `player_notices` and `staff_notices` write them beside a move or an act of
staff, `reminders` before a deadline. `outbox` delivers what is due: rows of each `queue` are looked at again
(`recheck`), made into mails (`notice_mails`, `account_mails`, `emails`) and sent (`sending`, `smtp_replies`).
`preferences` is what somebody wants to be told. `inbox` reads what they were told, `render` shows it, and `mail_links`
are the links of mails.
"""
