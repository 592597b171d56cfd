"""Start the site: `embedded` is `script/run`, the whole site in one process.

`place` has the paths of a checkout's files. `postgres` starts and stops the PostgreSQL of a checkout and shares it
between processes, and `programs` chooses its programs. `given` checks the database of `DATABASE_URL`. `broker` carries
Celery's messages inside `script/run`, `quiet_server` and `whole_requests` are its server.
"""
