"""Pages and the API, as `nomercy.server.bridge` runs them."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from nomercy.celery import app as celery_app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
application = get_wsgi_application()

# What every process loads once is loaded before the first visitor: the addresses, and the way to the broker.
import_module(settings.ROOT_URLCONF)
celery_app.finalize(auto=True)
celery_app.amqp.producer_pool.acquire(block=False).release()
