"""Pages and the API as plain synchronous code in threads, and websockets."""

import gc

from nomercy.wsgi import application as wsgi_application  # sets Django up before consumers import models

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

# What is loaded now stays, and checking it again would stop everything for a tenth of a second at each collection.
gc.collect()
gc.freeze()
