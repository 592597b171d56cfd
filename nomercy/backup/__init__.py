"""Back up the whole site into one file, and restore it: the commands `backup`, `verify_backup` and `restore`.

`encryption` is the outer layer of a file, `archive` the parts in it, and `manifest` the first part. `tables` copies
tables out of and into PostgreSQL. `save` writes a backup by `files`, and `load` restores one.
"""
