"""The configuration of gunicorn, which serves pages and the API. `script/serve web` starts it."""

import gc
import os
import shutil
import tempfile
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")

from django.conf import settings

from nomercy.checks import check_services_given, check_static_files, refuse
from nomercy.logs import log_start
from nomercy.start import log_state_of_database

FOLDER = "PROMETHEUS_MULTIPROC_DIR"

wsgi_app = "nomercy.wsgi:application"
worker_class = "gthread"
workers = settings.WEB_CONCURRENCY
threads = settings.HTTP_THREADS
graceful_timeout = 20
keepalive = 75  # longer than a proxy keeps an idle connection, so that the proxy closes it first
limit_request_line = 8190
# accounts/origin.py reads the headers of a proxy.
forwarder_headers = forwarded_allow_ips = ""
secure_scheme_headers: dict[str, str] = {}
logconfig_dict = settings.LOGGING
control_socket_disable = True


def on_starting(server: Any) -> None:
    """Refuse to start without what all processes need. Make the folder where the processes count requests."""
    check_services_given(embedded=settings.EMBEDDED)  # without Redis it serves pages, which poll
    check_static_files(settings.STATIC_ROOT)
    if not settings.BEHIND_PROXY and any(address.startswith("unix:") for address in server.cfg.bind):
        refuse("clients of a Unix socket cannot be told apart. Set BEHIND_PROXY=1, or use host:port.")
    if settings.METRICS_TOKEN:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="nomercy-metrics-")


def when_ready(server: Any) -> None:
    log_start("pages", address=" ".join(server.cfg.bind))
    log_state_of_database()


def post_worker_init(worker: Any) -> None:
    gc.freeze()  # what is loaded now is never freed; each garbage collection would take 0.1 s longer


def child_exit(server: Any, worker: Any) -> None:
    if FOLDER in os.environ:
        from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415  # it reads FOLDER

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]  # it has no types


def on_exit(server: Any) -> None:
    if FOLDER in os.environ:
        shutil.rmtree(os.environ[FOLDER], ignore_errors=True)
