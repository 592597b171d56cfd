"""The processes of a site in production, as `docker/compose.yaml` and `script/stack` start them."""

from typing import Final

COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "web": ("gunicorn", "--config", "python:nomercy.gunicorn", "nomercy.wsgi"),
    "ws": (
        "uvicorn", "nomercy.asgi:application", "--lifespan", "off", "--ws-max-size", "65536", "--no-access-log",
        "--log-level", "warning", "--no-server-header", "--no-proxy-headers", "--timeout-graceful-shutdown", "10",
        "--workers", "1",  # uvicorn would take WEB_CONCURRENCY for its own, which is gunicorn's here
    ),
    "worker": ("celery", "--quiet", "-A", "nomercy", "worker", "--concurrency", "2"),
    "beat": ("celery", "--quiet", "-A", "nomercy", "beat"),
}  # fmt: skip
"""What to run, without the address to listen on. Exactly one beat; as many of the others as one likes."""

STOP_SECONDS: Final = 30
"""How long each may take to finish what it does after SIGTERM, before it is killed."""
