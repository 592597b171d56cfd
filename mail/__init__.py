"""The outbox: what is to be told to people, and the channels that reach them.

Each row of `models.Delivery` goes to one person by one channel. `sources` says who writes the rows, and of which kinds.
`outbox` lets the source of a due row check it again, which answers with one of the `verdicts`, and hands it to its
channel (`channels`). `claims` stores what became of it. `hooks` and `hook_payloads` know what is posted to URLs of
people. `addresses`, `message_ids`, `smtp_replies` and `bounce_reports` know what mail is.
"""
