"""Wiring: settings, the doors of the processes, and the embedded stack."""

from nomercy.celery import app as celery_app

__all__ = ["__version__", "celery_app"]
__version__ = "0.1.0"
