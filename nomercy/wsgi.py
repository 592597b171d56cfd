"""The WSGI application: pages and the API. `nomercy.server.bridge` runs it."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from nomercy.celery import app as celery_app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
application = get_wsgi_application()

# Load the URLs and the connection to the broker now, and not in the first request.
import_module(settings.ROOT_URLCONF)
celery_app.finalize(auto=True)
celery_app.amqp.producer_pool.acquire(block=False).release()
