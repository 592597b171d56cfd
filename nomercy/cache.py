"""The cache, in Redis or in memory. Nothing depends on it: when Redis is down, the site goes on without it.

Values are stored as JSON. With Django's own serializer, pickle, anybody who can write to Redis could run code here.
"""

import json
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, cast

import redis
import structlog
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

log = structlog.get_logger(__name__)
PAUSE_SECONDS: Final = 5.0

# What each operation returns when Redis is down, as if nothing was stored and counts start again.
FAILED: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda key, value, timeout: True,
    "get": lambda key, default: default,
    "set": lambda key, value, timeout: None,
    "touch": lambda key, timeout: False,
    "delete": lambda key: False,
    "get_many": lambda keys: {},
    "has_key": lambda key: False,
    "incr": lambda key, delta: delta,
    "count": lambda key, seconds: 0,
    "set_many": lambda data, timeout: None,
    "delete_many": lambda keys: None,
    "clear": lambda: False,
}


class NotJson(Exception):
    """A value in the cache is not JSON, so this site did not write it."""


class JsonSerializer:
    """Serializes values as JSON, except integers, which Redis increments itself."""

    def dumps(self, value: object) -> int | bytes:
        """Return the value as Redis stores it.

        :raises TypeError: the value cannot be written as JSON.
        """
        return value if type(value) is int else json.dumps(value).encode()

    def loads(self, data: bytes | int) -> Any:
        """Return a stored value.

        :raises NotJson: another release or another program has written it.
        """
        try:
            return json.loads(data) if isinstance(data, bytes) else data
        except ValueError as error:
            raise NotJson from error


class MemoryCache(LocMemCache):
    """The cache in this process's memory, with the same JSON values as in Redis.

    So tests find values that would change in Redis. Django pickles them once more, which is safe in memory.
    """

    _serializer = JsonSerializer()

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        return super().add(key, self._serializer.dumps(value), timeout, version)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        data = super().get(key, None, version)
        return default if data is None else self._serializer.loads(data)

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        super().set(key, self._serializer.dumps(value), timeout, version)

    def count(self, key: str, seconds: int) -> int:
        """Add one to this counter, which begins at 0 and ends after `seconds`. Return the new count."""
        self.add(key, 0, seconds)
        return self.incr(key)


class CountingClient(RedisCacheClient):
    @cached_property
    def _client_of_pool(self) -> redis.Redis:
        client: redis.Redis = super().get_client(write=True)
        return client

    def get_client(self, key: Any = None, *, write: bool = False) -> redis.Redis:
        """Return the same client each time. There is one server, and making a client takes longer than a command."""
        return self._client_of_pool

    def count(self, key: str, seconds: int) -> int:
        """Count in one round trip, the first time in two. `add` and `incr` would take three."""
        client = self.get_client(key, write=True)
        counted: int = client.incr(key)
        if counted == 1:
            client.expire(key, seconds)
        return counted


class FailOpenClient:
    """Django's Redis client. After a failure it skips Redis for `PAUSE_SECONDS`, so that requests do not wait."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        self._client = CountingClient(servers, **options)
        self._away_until = 0.0

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        failed = FAILED[operation]

        def call(*args: Any) -> Any:
            if time.monotonic() < self._away_until:
                return failed(*args)
            try:
                result = getattr(self._client, operation)(*args)
            except redis.RedisError as error:
                self._away_until = time.monotonic() + PAUSE_SECONDS
                failure = {"operation": operation, "error": type(error).__name__, "pause": PAUSE_SECONDS}
                log.warning("cache failed", **failure, away="Redis")
                return failed(*args)
            except NotJson:
                log.warning("the cache holds a value that is not ours", operation=operation)
                return failed(*args)
            if self._away_until:
                self._away_until = 0.0
                log.info("the cache answers", back="Redis")
            return result

        return call


class FailOpenRedisCache(RedisCache):
    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = FailOpenClient

    def count(self, key: str, seconds: int) -> int:
        """Add one to this counter, as `MemoryCache.count`. Return 0 while Redis is down."""
        counted: int = cast("FailOpenClient", self._cache).count(self.make_and_validate_key(key), seconds)
        return counted
