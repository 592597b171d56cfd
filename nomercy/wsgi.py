"""The WSGI application: pages and the API. `nomercy.server.bridge` runs it."""

import os
from importlib import import_module
from typing import Any
from wsgiref.types import StartResponse

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http.response import HttpResponseBase

from nomercy.celery import app as celery_app
from nomercy.content_types import readable

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
django_application = get_wsgi_application()


def application(environ: dict[str, Any], start_response: StartResponse) -> HttpResponseBase:
    """Let Django answer a request. The name of its content type is replaced if Django could not read it."""
    environ["CONTENT_TYPE"] = readable(environ.get("CONTENT_TYPE", ""))
    return django_application(environ, start_response)


# Load the URLs and the connection to the broker now, and not in the first request.
import_module(settings.ROOT_URLCONF)
celery_app.finalize(auto=True)
celery_app.amqp.producer_pool.acquire(block=False).release()
