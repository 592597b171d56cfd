"""What staff can do. Every act asks for a reason and writes its audit entry in the same transaction.

`acts` is the table of all acts, and `forms` has what they ask for. Four modules perform them: `tables`; `people` (warn,
mute, suspend); `accounts` (names, roles, closing); and `cases` (reports and appeals, from both sides).

`audit` checks who may act and writes the entry. `roles` gives the groups their rights, `log` has what players
read between the moves, `queue` what waits for staff, and `auto_reports` opens cases for what the site itself saw.
"""
