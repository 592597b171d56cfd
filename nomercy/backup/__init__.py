"""Back up the whole site into one file, and restore it: the commands `backup`, `verify_backup` and `restore`.

`archive` writes and reads the file, `manifest` is what it says about itself, with the settings of the site, and
`postgresql` runs `pg_dump` and `pg_restore`. `site` makes and restores a backup, by `files`. `command` has what the
commands share.
"""
