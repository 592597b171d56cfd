"""Telling people what happened while they were away: written beside the change, looked at again when due, then sent.

`tell`, `by_staff` and `reminders` write notices; `outbox` takes those that are due, `judgement` looks again, `letters`
makes mails of them and `postman` sends those, by `smtp_replies`; `mailbox` is what a person does about notices, and
what is known of an address.
"""
