"""The socket's address: one per open game page."""

from django.urls import path

from games.live.consumer import GameConsumer

websocket_urlpatterns = [path("ws/games/<slug:code>/", GameConsumer.as_asgi())]  # type: ignore[arg-type]  # an ASGI app, which URLRouter takes
