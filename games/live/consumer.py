"""Push only: an open game page is told that its game has a new version, and fetches what it may see over HTTP."""

from __future__ import annotations

from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.sessions.backends.base import SessionBase
from django.utils import timezone

from accounts.models import User
from games import queries
from games.announce import group_of, person_group
from games.refusals import Denied

NOT_FOUND = 4404
SHUT_OUT = 4403
NO_MESSAGES = 4400


class GameConsumer(AsyncJsonWebsocketConsumer):
    """Sends `{"game": code, "version": n}` on connection and after each change; never a card, and takes nothing."""

    group: str | None = None
    person: str | None = None

    async def connect(self) -> None:
        code: str = self.scope["url_route"]["kwargs"]["code"]
        await self.accept()
        # Join before reading the version: a move in between is then told twice, not never.
        await self.channel_layer.group_add(group_of(code), self.channel_name)
        self.group = group_of(code)
        user: object = self.scope["user"]
        if isinstance(user, User):
            self.person = person_group(user.pk)
            await self.channel_layer.group_add(self.person, self.channel_name)
        version = await database_sync_to_async(_version_for)(code, user, self.scope["session"])
        if version is None:
            await self.close(code=NOT_FOUND)
        else:
            await self.send_json({"game": code, "version": version})

    async def disconnect(self, code: int) -> None:
        for group in filter(None, (self.group, self.person)):
            await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Moves arrive by HTTP only."""
        await self.close(code=NO_MESSAGES)

    async def game_changed(self, message: dict[str, Any]) -> None:
        await self.send_json({"game": message["game"], "version": message["version"]})

    async def person_shut_out(self, message: dict[str, Any]) -> None:
        await self.close(code=SHUT_OUT)


def _version_for(code: str, user: object, session: SessionBase) -> int | None:
    if isinstance(user, User) and user.suspended(timezone.now()):
        return None
    try:
        links = session.get("links", ())
        return queries.load_for(code, user if isinstance(user, User) else None, links).game.version
    except Denied:
        return None
