"""Websockets, and HTTP handed on to the WSGI app: pages are plain synchronous code with a thread each."""

from typing import cast

from a2wsgi import WSGIMiddleware
from a2wsgi.wsgi_typing import WSGIApp

from nomercy.wsgi import application as wsgi_application  # sets Django up before consumers import models

from channels.routing import ProtocolTypeRouter, URLRouter  # isort: skip
from django.conf import settings  # isort: skip
from games.live.door import Door  # isort: skip
from games.live.routing import websocket_urlpatterns  # isort: skip

HTTP_THREADS = 10
websockets = URLRouter(websocket_urlpatterns)  # type: ignore[arg-type]  # the stub wants a private pattern class

application = ProtocolTypeRouter(
    {
        "http": WSGIMiddleware(cast("WSGIApp", wsgi_application), workers=HTTP_THREADS),
        "websocket": Door(websockets, hosts=settings.ALLOWED_HOSTS),
    }
)
