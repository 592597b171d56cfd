"""Push only: an open game page is told that its game has a new version, and fetches what it may see over HTTP."""

from __future__ import annotations

from typing import Any, NamedTuple

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.sessions.backends.base import SessionBase
from django.utils import timezone

from accounts.adapter import links_in
from accounts.models import User
from games import queries
from games.announce import group_of, person_group
from games.live.watch import watch
from games.refusals import Denied

SESSION_ENDED = 4401
SHUT_OUT = 4403
NOT_FOUND = 4404
NO_MESSAGES = 4400


class GameConsumer(AsyncJsonWebsocketConsumer):
    """Sends `{"game": code, "version": n}` on connection and after each change; never a card, and takes nothing.

    It is told of changes through its groups, and by the watch of its process when the channel layer is away.
    """

    code: str = ""
    version: int = -1
    session_key: str | None = None
    user_id: int | None = None
    link: str = ""
    closed: bool = False
    joined: bool = False

    async def connect(self) -> None:
        self.code = self.scope["url_route"]["kwargs"]["code"]
        user: object = self.scope["user"]
        session: SessionBase = self.scope["session"]
        self.session_key = session.session_key
        self.user_id = user.pk if isinstance(user, User) else None
        await self.accept()
        # Join before reading the version: a move in between is then told twice, not never.
        await self.join_groups()
        entrance = await database_sync_to_async(_entrance)(self.code, user, session)
        if entrance is None:
            await self.close(code=NOT_FOUND)
            return
        self.link = entrance.link
        watch().add(self)
        await self.tell(entrance.version)

    async def join_groups(self) -> bool:
        """Have the channel layer bring what is told to the table and to its person; False while it is away."""
        if self.joined or self.closed:
            return True
        if watch().layer_away:
            return False
        try:
            for group in self._groups():
                await self.channel_layer.group_add(group, self.channel_name)
        except Exception as error:  # noqa: BLE001  # whatever a layer raises, the watch brings the news and asks again
            watch().layer_failed(error)
            return False
        self.joined = True
        return True

    async def disconnect(self, code: int) -> None:
        self.closed = True
        watch().remove(self)
        try:
            for group in self._groups():
                await self.channel_layer.group_discard(group, self.channel_name)
        except Exception as error:  # noqa: BLE001  # what is left behind in it leads nowhere
            watch().layer_failed(error)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Moves arrive by HTTP only."""
        await self.close(code=NO_MESSAGES)

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """After this nothing more is told, whatever is still on its way."""
        if not self.closed:
            self.closed = True
            watch().remove(self)
            await super().close(code=code, reason=reason)

    async def tell(self, version: int) -> None:
        """Say that the game is at this version now."""
        if not self.closed:
            self.version = max(self.version, version)
            await self.send_json({"game": self.code, "version": version})

    async def end(self) -> None:
        """Close because the session ended: the page may come back as whoever it is then."""
        await self.close(code=SESSION_ENDED)

    async def shut_out(self) -> None:
        """Close because this person may not see this table any more: the page loads itself again, and says why."""
        await self.close(code=SHUT_OUT)

    async def access_changed(self, message: dict[str, Any]) -> None:
        watch().look_soon()

    async def game_changed(self, message: dict[str, Any]) -> None:
        await self.tell(message["version"])

    async def person_news(self, message: dict[str, Any]) -> None:
        """To hear of a version again is news that is no move: the page looks, and its header tells."""
        await self.tell(self.version)

    async def person_shut_out(self, message: dict[str, Any]) -> None:
        await self.shut_out()

    async def person_signed_out(self, message: dict[str, Any]) -> None:
        await self.end()

    def _groups(self) -> list[str]:
        return [group_of(self.code), *([] if self.user_id is None else [person_group(self.user_id)])]


class Entrance(NamedTuple):
    """What a socket comes in with: the table's version, and the invitation key by which its person sees it."""

    version: int
    link: str


def _entrance(code: str, user: object, session: SessionBase) -> Entrance | None:
    if isinstance(user, User) and user.suspended(timezone.now()):
        return None
    links = links_in(session)
    try:
        game = queries.load_for(code, user if isinstance(user, User) else None, links).game
    except Denied:
        return None
    return Entrance(game.version, game.invite_key if game.invite_key in links else "")
