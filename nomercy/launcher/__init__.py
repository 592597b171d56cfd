"""Start the site: `embedded` is `script/run`.

`place` has the paths of a checkout's files. `postgres` shares the PostgreSQL of
a checkout between processes, `postmaster` (with `pids`) starts and stops it, `programs` chooses its programs, and
`data` its data folder. `given` checks the database of `DATABASE_URL`. `broker` carries Celery's messages inside
`script/run`.
"""
