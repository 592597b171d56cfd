"""The websocket of an open game page. It only pushes the number of the revision; the page fetches itself over HTTP."""

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
from games.live.handshake import Scope, cookies_of, refuse
from games.live.polling import LAYER_ERRORS, poller
from games.queries import Viewer
from games.refusals import Denied

log = structlog.get_logger(__name__)

SESSION_ENDED: Final = 4401
ACCESS_LOST: Final = 4403
NOT_FOUND: Final = 4404
NO_MESSAGES: Final = 4400

SEND_TIMEOUT: Final = 5.0
"""Seconds to send a message before the connection counts as lost."""
BEAT_SECONDS: Final = 10.0
"""A socket on which nothing was sent for so long gets its revision again, so that its page knows that it still works.

Browsers tell no page of the server's pings, and notice a connection that broke silently only after minutes.
"""
SEND_INTERVAL: Final = 0.2
"""Seconds between two messages.

The server's pings close a page that never reads after 40 s. Until then its messages must fit into the buffers of the
connection, which could not be closed otherwise.
"""


class ConnectionLost(Exception):
    """A message could not be sent."""


class GameConsumer(AsyncJsonWebsocketConsumer):
    """Sends `{"game": code, "version": n, "revision": r}` on connection and after each change. It accepts no messages.

    After `BEAT_SECONDS` without a change it sends that with `"beat": true`, and with `"news": true` when something
    changed that only this user sees.

    It learns of changes through its groups in the channel layer, and from the poller if the layer is down. A task of
    its own sends the messages, so a slow or broken connection delays no other socket.
    """

    code: str = ""
    version: int = -1
    revision: int = -1
    session_key: str | None = None
    user_id: int | None = None
    link: str = ""
    closed: bool = False
    channel_name: str = ""

    def __init__(self) -> None:
        super().__init__()
        self._wake = asyncio.Event()
        self._news = False
        self._close_code: int | None = None
        self._joined: set[str] = set()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve one socket and clean up after it, however it ends."""

        async def send_or_raise(message: Any) -> None:
            try:
                async with asyncio.timeout(SEND_TIMEOUT):
                    await send(message)
            except Exception as error:  # servers raise different exceptions for a lost connection
                raise ConnectionLost from error

        try:
            async with asyncio.TaskGroup() as tasks:
                sender = tasks.create_task(self._send_messages())
                await super().__call__(scope, receive, send_or_raise)
                sender.cancel()
        except* ConnectionLost:
            log.debug("a socket is gone")
        finally:
            await self._clean_up()

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Call the handler of a message.

        Channels would first close old database connections, in a thread for which all sockets would wait. Only
        `connect` uses the database, through `database_sync_to_async`, which closes them itself.
        """
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        scope: Scope = self.scope
        lock: AbstractAsyncContextManager[None] = scope["entry_lock"]
        self.code = scope["url_route"]["kwargs"]["code"]
        key = cookies_of(scope).get(settings.SESSION_COOKIE_NAME)
        async with lock:
            # Join before reading the revision: a move in between is then sent twice instead of never.
            await self.join_groups()
            try:
                access = await database_sync_to_async(socket_access)(self.code, key)
            except Error as error:
                if refusals.temporary_refusal(error) is None:
                    raise
                await refuse(scope, self.base_send, 503)
                return
            if access is not None:
                self.session_key, self.user_id, self.link = access.session_key, access.user_id, access.link
                await self.join_groups()
        await self.accept()
        if access is None:
            self.finish(NOT_FOUND)
            return
        self.version, self.revision = access.version, access.revision
        await self._send_revision()
        poller().add(self)

    async def join_groups(self) -> bool:
        """Join the groups of the game and of the user. Return False if the channel layer is down."""
        missing = [] if self.closed else [group for group in self._groups() if group not in self._joined]
        if missing and poller().layer_is_down:
            return False
        try:
            for group in missing:
                await self.channel_layer.group_add(group, self.channel_name)
                self._joined.add(group)
        except LAYER_ERRORS as error:
            poller().layer_failed(error)
            return False
        return True

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        # Moves arrive by HTTP only.
        self.finish(NO_MESSAGES)

    def notify(self, version: int, revision: int) -> None:
        """Queue a message with this revision of the game if it is newer than the last."""
        if not self.closed and revision > self.revision:
            self.version, self.revision = version, revision
            self._wake.set()

    def finish(self, code: int) -> None:
        """Close the socket with this code, and send nothing more."""
        if not self.closed:
            self.closed = True
            self._close_code = code
            poller().remove(self)
            self._wake.set()

    def session_ended(self) -> None:
        """Close because the session ended. The page connects again, as a visitor or another user."""
        self.finish(SESSION_ENDED)

    def access_lost(self) -> None:
        """Close because the user may not see this table any more. The page then reloads, which shows the reason."""
        self.finish(ACCESS_LOST)

    async def access_changed(self, message: dict[str, Any]) -> None:
        poller().poll_soon()

    async def game_changed(self, message: dict[str, Any]) -> None:
        self.notify(message["version"], message["revision"])

    async def person_news(self, message: dict[str, Any]) -> None:
        self._news = True
        self._wake.set()

    async def person_shut_out(self, message: dict[str, Any]) -> None:
        self.access_lost()

    async def person_logged_out(self, message: dict[str, Any]) -> None:
        self.session_ended()

    async def _send_messages(self) -> None:
        """Send queued messages until the socket closes.

        :raises ConnectionLost: a message could not be sent.
        """
        while self._close_code is None:
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                if self.revision >= 0:  # otherwise it is not accepted yet
                    await self._send_revision(beat=True)
                continue
            self._wake.clear()
            if self._close_code is None:
                news, self._news = {"news": True} if self._news else {}, False
                await self._send_revision(**news)
                await asyncio.sleep(SEND_INTERVAL)
        await self.close(code=self._close_code)

    async def _send_revision(self, **more: bool) -> None:
        await self.send_json({"game": self.code, "version": self.version, "revision": self.revision, **more})

    async def _clean_up(self) -> None:
        self.closed = True
        poller().remove(self)
        if self.channel_name:
            try:
                for group in self._groups():
                    await self.channel_layer.group_discard(group, self.channel_name)
            except LAYER_ERRORS as error:
                poller().layer_failed(error)
            self.channel_layer.forget(self.channel_name)  # type: ignore[attr-defined]  # both layers of this site do

    def _groups(self) -> list[str]:
        return [group_of(self.code), *([] if self.user_id is None else [person_group(self.user_id)])]


class SocketAccess(NamedTuple):
    """What a new socket needs to know: the game's version and revision, and how its user may see the table."""

    version: int
    revision: int
    user_id: int | None
    session_key: str | None
    link: str
    """The invitation key by which its user sees the table, or empty."""


def socket_access(code: str, session_key: str | None) -> SocketAccess | None:
    """Return what a socket to this table needs, or None if its user may not see the table. At most four queries."""
    session = import_string(f"{settings.SESSION_ENGINE}.SessionStore")(session_key)
    user = people.logged_in_by(session)
    if settings.LOGIN_REQUIRED if user is None else user.suspended(timezone.now()):
        return None
    links = links_in(session)
    try:
        game = queries.load_for(code, Viewer(user, links)).game
    except Denied:
        return None
    link = game.invite_key if game.invite_key in links else ""
    return SocketAccess(game.version, game.revision, None if user is None else user.pk, session.session_key, link)
