"""The addresses of websockets."""

from django.urls import path, register_converter

from games.live.consumer import GameConsumer


class TableCode:
    """The code of a table: no longer than its column, and only characters that a group name may have."""

    regex = "[a-z0-9]{1,16}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(TableCode, "tablecode")
websocket_urlpatterns = [path("ws/games/<tablecode:code>/", GameConsumer.as_asgi())]  # type: ignore[arg-type]  # an ASGI app, which URLRouter takes
