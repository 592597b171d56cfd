"""Starts the site: `embedded` is `script/run`, `stack` (with `proxy`) is `script/stack`.

`place` says where things are kept and `processes` what runs. `postgres` shares the PostgreSQL of a checkout between
processes, `postmaster` (with `pids`) starts and stops it, `programs` chooses its programs, `data` knows its folders.
`given` looks at one that `DATABASE_URL` names.
"""
