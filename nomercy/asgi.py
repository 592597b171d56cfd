"""The ASGI application: pages and the API as synchronous code in threads, and websockets."""

import gc

from nomercy.wsgi import application as wsgi_application  # sets up Django, before consumers import models

from channels.routing import ProtocolTypeRouter, URLRouter  # isort: skip
from games.live.handshake import HandshakeChecks  # isort: skip
from games.live.routing import websocket_urlpatterns  # isort: skip
from nomercy.server.admission import Admission  # isort: skip
from nomercy.server.bridge import Bridge  # isort: skip

HTTP_THREADS = 10
websockets = URLRouter(websocket_urlpatterns)  # type: ignore[arg-type]  # the stub wants a private pattern class

application = ProtocolTypeRouter(
    {
        "http": Admission(Bridge(wsgi_application, threads=HTTP_THREADS)),
        "websocket": HandshakeChecks(websockets),
    }
)

# What is loaded now is never freed. Checking it at each garbage collection would stop the process for 0.1 s.
gc.freeze()
