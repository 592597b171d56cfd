"""How gunicorn serves pages and the API: `gunicorn --config python:nomercy.gunicorn nomercy.wsgi`.

`WEB_CONCURRENCY` is the number of processes, gunicorn's own variable.
"""

import os

from nomercy.settings import LOGGING

# Threads, so that a slow client holds up no more than its own request: not every proxy buffers for us.
worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = 4
keepalive = 75  # longer than the proxy keeps an idle connection, so that it is never the one to be surprised
timeout = 30
graceful_timeout = 20
control_socket_disable = True
logconfig_dict = LOGGING
