"""Starts the site: `embedded` is `script/run`, `stack` (with `proxy`) is `script/stack`.

`place` says where things are kept and `processes` what runs; `postgres` (with `pids`) keeps the embedded server,
`given` looks at one that `DATABASE_URL` names.
"""
