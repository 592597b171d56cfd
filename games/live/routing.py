"""The socket's address: one per open game page."""

from django.urls import path, register_converter

from games.live.consumer import GameConsumer


class TableCode:
    """The code of a table, as long as a column of the database holds one and as safe as a group's name must be."""

    regex = "[a-z0-9]{1,16}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(TableCode, "tablecode")
websocket_urlpatterns = [path("ws/games/<tablecode:code>/", GameConsumer.as_asgi())]  # type: ignore[arg-type]  # an ASGI app, which URLRouter takes
