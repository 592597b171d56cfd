"""The channel layer in production: Redis pub/sub, for groups alone."""

import asyncio

from channels_redis.pubsub import RedisPubSubChannelLayer, RedisPubSubLoopLayer


class GroupsOnly(RedisPubSubLoopLayer):  # type: ignore[misc]  # channels_redis has no types
    """A socket's own channel stays in this process: nothing here sends to one, and it opens while Redis is away."""

    async def _subscribe_to_channel(self, channel: str) -> None:
        self.channels[channel] = asyncio.Queue()

    def forget(self, channel: str) -> None:
        """Drop the channel of a socket that is gone, with what is still in it."""
        self.channels.pop(channel, None)


class GroupLayer(RedisPubSubChannelLayer):  # type: ignore[misc]  # likewise
    """Channels' Redis pub/sub layer with `GroupsOnly` for each event loop."""

    def forget(self, channel: str) -> None:
        self._get_layer().forget(channel)

    def _get_layer(self) -> GroupsOnly:
        loop = asyncio.get_running_loop()
        layer: GroupsOnly | None = self._layers.get(loop)
        if layer is None:
            layer = self._layers[loop] = GroupsOnly(*self._args, **self._kwargs, channel_layer=self)
        return layer
