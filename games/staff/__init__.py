"""Acts of staff, reports and cases. Every act writes an audit entry in its own transaction.

`acts` is the table of all acts, and `forms` has their forms. The module of its subject performs an act: `tables`,
`people` (warn, mute, suspend), `accounts` (names, roles, closing), `new_accounts`, `invitations`, `cases` (reports),
`appeals` and `announcement`.

`audit` checks permissions and writes the entries. `roles` gives the groups their permissions. `log` makes the notes
between the moves in a table's log. `queue` counts what waits for staff. `auto_reports` reports conduct that the site
detects itself. `words` has what their English sentences share.
"""
