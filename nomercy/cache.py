"""The shared cache only counts and remembers: when Redis is away, the site goes on without it."""

import time
from collections.abc import Callable
from typing import Any, Final

import redis
import structlog
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

log = structlog.get_logger(__name__)
PAUSE_SECONDS: Final = 5.0

# What each operation answers when Redis cannot: nothing is cached, nothing was stored, a count starts again.
FAILED: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda key, value, timeout: True,
    "get": lambda key, default: default,
    "set": lambda key, value, timeout: None,
    "touch": lambda key, timeout: False,
    "delete": lambda key: False,
    "get_many": lambda keys: {},
    "has_key": lambda key: False,
    "incr": lambda key, delta: delta,
    "set_many": lambda data, timeout: None,
    "delete_many": lambda keys: None,
    "clear": lambda: False,
}


class FailOpenClient:
    """Django's Redis client; after a failure Redis is left alone for a moment, so that nobody else waits for it."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        self._client = RedisCacheClient(servers, **options)
        self._away_until = 0.0

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        failed = FAILED[operation]

        def call(*args: Any) -> Any:
            if time.monotonic() < self._away_until:
                return failed(*args)
            try:
                return getattr(self._client, operation)(*args)
            except redis.RedisError as error:
                self._away_until = time.monotonic() + PAUSE_SECONDS
                log.warning("cache failed", operation=operation, error=type(error).__name__, pause=PAUSE_SECONDS)
                return failed(*args)

        return call


class FailOpenRedisCache(RedisCache):
    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = FailOpenClient
