"""The Django project: settings, middleware, the HTTP server, and the launchers of `script/run` and `script/stack`."""

from nomercy.celery import app as celery_app

__all__ = ["__version__", "celery_app"]
__version__ = "0.1.0"
