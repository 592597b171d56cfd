"""The channel layer in production: Redis pub/sub, for groups only."""

import asyncio

from channels_redis.pubsub import RedisPubSubChannelLayer, RedisPubSubLoopLayer


class GroupsOnly(RedisPubSubLoopLayer):  # type: ignore[misc]  # channels_redis has no types
    """Keeps the channel of a single socket in this process: nobody sends to it, and sockets open without Redis."""

    async def _subscribe_to_channel(self, channel: str) -> None:
        self.channels[channel] = asyncio.Queue()

    def forget(self, channel: str) -> None:
        """Delete the channel of a closed socket with its unread messages."""
        self.channels.pop(channel, None)


class GroupLayer(RedisPubSubChannelLayer):  # type: ignore[misc]  # channels_redis has no types
    """Channels' Redis pub/sub layer with `GroupsOnly` for each event loop."""

    def forget(self, channel: str) -> None:
        self._get_layer().forget(channel)

    def _get_layer(self) -> GroupsOnly:
        loop = asyncio.get_running_loop()
        layer: GroupsOnly | None = self._layers.get(loop)
        if layer is None:
            layer = self._layers[loop] = GroupsOnly(*self._args, **self._kwargs, channel_layer=self)
        return layer
