"""Push only: an open game page is told that its game has a new version, and fetches what it may see over HTTP."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, NamedTuple

import structlog
from channels.consumer import get_handler_name
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.db import Error
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts import queries as people
from accounts.adapter import links_in
from games import queries, refusals
from games.announce import group_of, person_group
from games.live.door import Scope, cookies_of, refuse
from games.live.polling import LAYER_AWAY, watch
from games.queries import Viewer
from games.refusals import Denied

log = structlog.get_logger(__name__)

SESSION_ENDED: Final = 4401
SHUT_OUT: Final = 4403
NOT_FOUND: Final = 4404
NO_MESSAGES: Final = 4400

SEND_SECONDS: Final = 5.0
"""How long the other end may take to make room for a message."""
PAUSE_SECONDS: Final = 0.2
"""The time between two messages. A page that never reads is closed by the server's pings after 40 s; until then so few
messages fit into the buffers of its connection, which could otherwise not be closed."""


class Gone(Exception):
    """The other end of a socket cannot be reached any more."""


class GameConsumer(AsyncJsonWebsocketConsumer):
    """Sends `{"game": code, "version": n}` on connection and after each change; never a card, and takes nothing.

    It is told of changes through its groups, and by the watch of its process when the channel layer is away. Nobody who
    tells it anything waits for its other end: it speaks by a task of its own, and if that fails, it ends alone.
    """

    code: str = ""
    version: int = -1
    session_key: str | None = None
    user_id: int | None = None
    link: str = ""
    closed: bool = False
    channel_name: str = ""

    def __init__(self) -> None:
        super().__init__()
        self._something_to_say = asyncio.Event()
        self._untold = 0
        self._close_code: int | None = None
        self._joined: set[str] = set()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve one socket, and leave nothing of it behind, however it ends."""

        async def reach(message: Any) -> None:
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await send(message)
            except Exception as error:  # servers say in several ways that a connection is gone
                raise Gone from error

        try:
            async with asyncio.TaskGroup() as tasks:
                speaking = tasks.create_task(self._speak())
                await super().__call__(scope, receive, reach)
                speaking.cancel()
        except* Gone:
            log.debug("a socket is gone")
        finally:
            await self._leave()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Handle a message without Channels' visit to the database's thread, which would make all sockets wait there.

        Only `connect` asks the database, by a call that closes old connections itself.
        """
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        scope: Scope = self.scope
        turn: AbstractAsyncContextManager[None] = scope["turn"]
        self.code = scope["url_route"]["kwargs"]["code"]
        key = cookies_of(scope).get(settings.SESSION_COOKIE_NAME)
        async with turn:
            # Join before reading the version: a move in between is then told twice, not never.
            await self.join_groups()
            try:
                entrance = await database_sync_to_async(_entrance)(self.code, key)
            except Error as error:
                if refusals.passing(error) is None:
                    raise
                await refuse(scope, self.base_send, 503)
                return
            if entrance is not None:
                self.session_key, self.user_id, self.link = entrance.session_key, entrance.user_id, entrance.link
                await self.join_groups()
        await self.accept()
        if entrance is None:
            self.finish(NOT_FOUND)
            return
        await self._send_version(entrance.version)
        watch().add(self)

    async def join_groups(self) -> bool:
        """Have the channel layer bring what is told to the table and to its person; False while it is away."""
        missing = [] if self.closed else [group for group in self._groups() if group not in self._joined]
        if missing and watch().layer_away:
            return False
        try:
            for group in missing:
                await self.channel_layer.group_add(group, self.channel_name)
                self._joined.add(group)
        except LAYER_AWAY as error:
            watch().layer_failed(error)
            return False
        return True

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Moves arrive by HTTP only."""
        self.finish(NO_MESSAGES)

    def tell(self, version: int) -> None:
        """Say that the game is at this version now, or again, once the messages before have left."""
        if not self.closed:
            self.version = max(self.version, version)
            # Two messages of one version say that there is news which is no move; more say nothing more.
            self._untold = min(self._untold + 1, 2)
            self._something_to_say.set()

    def finish(self, code: int) -> None:
        """Close; after this nothing more is told, whatever is still on its way."""
        if not self.closed:
            self.closed = True
            self._close_code = code
            watch().remove(self)
            self._something_to_say.set()

    def end(self) -> None:
        """Close because the session ended: the page may come back as somebody else, or as a visitor."""
        self.finish(SESSION_ENDED)

    def shut_out(self) -> None:
        """Close because this person may not see this table any more: the page loads itself again, and says why."""
        self.finish(SHUT_OUT)

    async def access_changed(self, message: dict[str, Any]) -> None:
        watch().look_soon()

    async def game_changed(self, message: dict[str, Any]) -> None:
        self.tell(message["version"])

    async def person_news(self, message: dict[str, Any]) -> None:
        """To hear of a version again is news that is no move: the page looks, and its header tells."""
        self.tell(self.version)

    async def person_shut_out(self, message: dict[str, Any]) -> None:
        self.shut_out()

    async def person_signed_out(self, message: dict[str, Any]) -> None:
        self.end()

    async def _speak(self) -> None:
        """Send what there is to say.

        :raises Gone: the other end cannot be reached.
        """
        while self._close_code is None:
            await self._something_to_say.wait()
            self._something_to_say.clear()
            untold, self._untold = self._untold, 0
            if self._close_code is None:
                for _ in range(untold):
                    await self._send_version(self.version)
                await asyncio.sleep(PAUSE_SECONDS)
        await self.close(code=self._close_code)

    async def _send_version(self, version: int) -> None:
        self.version = max(self.version, version)
        await self.send_json({"game": self.code, "version": self.version})

    async def _leave(self) -> None:
        self.closed = True
        watch().remove(self)
        if self.channel_name:
            try:
                for group in self._groups():
                    await self.channel_layer.group_discard(group, self.channel_name)
            except LAYER_AWAY as error:
                watch().layer_failed(error)
            self.channel_layer.forget(self.channel_name)  # type: ignore[attr-defined]  # both layers of this site do

    def _groups(self) -> list[str]:
        return [group_of(self.code), *([] if self.user_id is None else [person_group(self.user_id)])]


class Entrance(NamedTuple):
    """What a socket comes in with."""

    version: int
    user_id: int | None
    session_key: str | None
    link: str
    """The invitation key by which its person sees the table, or empty."""


def _entrance(code: str, session_key: str | None) -> Entrance | None:
    """Return what a socket to this table comes in with; None if its person may not see it. At most four queries."""
    session = import_string(f"{settings.SESSION_ENGINE}.SessionStore")(session_key)
    user = people.logged_in_by(session)
    if user is not None and user.suspended(timezone.now()):
        return None
    links = links_in(session)
    try:
        game = queries.load_for(code, Viewer(user, links)).game
    except Denied:
        return None
    link = game.invite_key if game.invite_key in links else ""
    return Entrance(game.version, None if user is None else user.pk, session.session_key, link)
