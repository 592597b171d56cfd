"""The WSGI application: pages and the API."""

import os
from importlib import import_module
from typing import Any
from wsgiref.types import StartResponse

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http.response import HttpResponseBase

from common.cookies import without_escapes
from nomercy.celery import app as celery_app
from nomercy.content_types import readable

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
django_application = get_wsgi_application()


def application(environ: dict[str, Any], start_response: StartResponse) -> HttpResponseBase:
    """Let Django answer a request. What Django would fail on or read very slowly is taken out of two headers."""
    environ["CONTENT_TYPE"] = readable(environ.get("CONTENT_TYPE", ""))
    if "HTTP_COOKIE" in environ:
        environ["HTTP_COOKIE"] = without_escapes(environ["HTTP_COOKIE"])
    return django_application(environ, start_response)


# Load the URLs and the connection to the broker now, and not in the first request.
import_module(settings.ROOT_URLCONF)
celery_app.finalize(auto=True)
celery_app.amqp.producer_pool.acquire(block=False).release()
