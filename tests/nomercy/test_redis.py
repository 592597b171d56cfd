"""Redis with a Unix socket or a password, and no values that run as code when they are read."""

from __future__ import annotations

import asyncio
import os
import pickle
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis
from kombu import Connection
from pytest_django.fixtures import Settings

from common.limits import Limit
from nomercy import health, limits
from nomercy.cache import FailOpenRedisCache, JsonSerializer, MemoryCache
from nomercy.celery import app
from nomercy.checks import Environment, broker_url
from nomercy.launcher.given import require_redis_log_in
from nomercy.launcher.place import CHECKOUT
from nomercy.layer import GroupLayer
from tests.nomercy.test_checks import read_settings
from tests.support import waiting
from tests.support.ports import free_port
from tests.support.programs import program
from tests.support.stack import command_of, redis_url

pytestmark = pytest.mark.long

until = partial(waiting.until, patience=20.0)


@contextmanager
def server(*arguments: str, url: str, config: str = "") -> Iterator[str]:
    """Run a Redis with these arguments that answers at `url`."""
    path = program(("redis-server",))
    assert path is not None
    process = subprocess.Popen([path, *arguments], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.write(config.encode())
    process.stdin.close()
    try:
        until("Redis answers", lambda: answers(url))
        yield url
    finally:
        process.terminate()
        process.wait()


@contextmanager
def password_server() -> Iterator[str]:
    """Run a Redis that needs the password `"p" * 32`."""
    port = free_port()
    arguments = ("-", "--bind", "127.0.0.1", "--port", str(port), "--save", "")
    url, config = f"redis://:{'p' * 32}@127.0.0.1:{port}/0", f"requirepass {'p' * 32}\n"
    with server(*arguments, url=url, config=config) as running:
        yield running


def answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


@pytest.fixture(scope="module", params=["unix", "password"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis as `script/stack` starts it, and one as the compose file does."""
    folder = tmp_path_factory.mktemp("redis")
    if request.param == "unix":
        with server(*command_of("redis", folder)[1:], url=redis_url(folder)) as running:
            yield running
    else:
        with password_server() as running:
            yield running


@pytest.fixture
def given(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL as the settings read it."""
    monkeypatch.setenv("REDIS_URL", url)
    return Environment().redis("REDIS_URL")


@pytest.mark.redis
def test_processes_share_the_counts_of_limits(given: str, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    settings.RATE_LIMITS = 100
    two = Limit("two", "person", 2, 30)
    waits = []
    for _ in range(2):
        monkeypatch.setattr(limits, "cache", FailOpenRedisCache(given, {}))
        waits += [limits.throttle(two, "somebody") for _ in range(2)]
        limits.give_back(two, "somebody")
    assert waits == [0, 0, 0, 30]
    with redis.Redis.from_url(given) as client:
        (key,) = client.scan_iter("*limit:two:*")
        assert 0 < client.ttl(key) <= 30


@pytest.mark.redis
def test_the_cache_works_there(given: str) -> None:
    options = {"socket_connect_timeout": 0.2, "socket_timeout": 0.2, "serializer": "nomercy.cache.JsonSerializer"}
    shared = FailOpenRedisCache(given, {"OPTIONS": options})
    assert shared.add("counter", 1)
    assert shared.incr("counter", 2) == 3
    shared.set("history", [1.5, 2.5])
    assert shared.get_many(["counter", "history", "nothing"]) == {"counter": 3, "history": [1.5, 2.5]}


@pytest.mark.redis
def test_readyz_notices_a_redis_that_takes_no_writes(settings: Settings) -> None:
    with password_server() as url, redis.Redis.from_url(url) as client:
        settings.REDIS_URL = url
        assert health.redis_server() == "ok"
        assert client.ttl(health.REDIS_KEY) > 0
        client.config_set("maxmemory", 1)
        assert client.ping()
        assert health.redis_server() == "cannot write"


@pytest.mark.redis
def test_the_broker_works_there(given: str) -> None:
    options = {"socket_connect_timeout": 0.2, "socket_timeout": 0.2, "max_retries": 0, "retry_on_timeout": False}
    with Connection(broker_url(given), transport_options=options) as broker, broker.SimpleQueue("test") as queue:
        queue.put({"game": 1})
        message = queue.get(timeout=5)
        assert (message.payload, message.content_type) == ({"game": 1}, "application/json")
        message.ack()


@pytest.mark.redis
def test_the_channel_layer_works_there(given: str) -> None:
    async def scenario() -> Any:
        layer = GroupLayer(hosts=[{"address": given, "socket_connect_timeout": 0.2, "socket_timeout": 0.2}])
        channel = await layer.new_channel()
        await layer.group_add("game.abc", channel)
        await layer.group_send("game.abc", {"type": "game.changed"})
        told = await asyncio.wait_for(layer.receive(channel), 5)
        await layer.flush()
        return told

    assert asyncio.run(scenario()) == {"type": "game.changed"}


@pytest.mark.redis
def test_a_closed_socket_leaves_nothing_in_the_layer(given: str) -> None:
    """Not even if a message arrives while it closes."""

    async def scenario() -> None:
        layer = GroupLayer(hosts=[given])
        channel = await layer.new_channel()
        await layer.group_add("game.abc", channel)
        inner = layer._get_layer()
        inner.channels[channel].put_nowait(b"late")
        await layer.group_discard("game.abc", channel)
        layer.forget(channel)
        assert (inner.channels, inner.groups) == ({}, {})
        await layer.flush()

    asyncio.run(scenario())


@pytest.mark.redis
@pytest.mark.parametrize("module", ["nomercy.launcher.embedded", pytest.param("script.stack", marks=pytest.mark.long)])
def test_a_wrong_password_ends_the_start_with_one_sentence(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = "No Mercy does not start: the Redis of REDIS_URL refuses the password."
    with password_server() as right:
        for password in ("hidden", ""):
            monkeypatch.setenv("REDIS_URL", right.replace("p" * 32, password))
            with pytest.raises(SystemExit) as refused:
                require_redis_log_in()
            assert str(refused.value) == refusal
        environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        stopped = subprocess.run(
            [sys.executable, "-m", module],
            env=environment | {"PORT": str(free_port()), "SECRET_KEY": "k" * 40},
            cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert (stopped.returncode, stopped.stdout, stopped.stderr) == (1, "", f"{refusal}\n")


@pytest.mark.redis
def test_the_start_does_not_need_a_redis_that_answers(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require_redis_log_in()
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{free_port()}/0")
    require_redis_log_in()


@pytest.mark.redis
def test_readiness_asks_it_there(given: str, settings: Settings) -> None:
    settings.REDIS_URL = given
    assert health.redis_server() == "ok"
    settings.REDIS_URL = given.replace("redis.sock", "other.sock").replace("p" * 32, "wrong")
    assert health.redis_server() == "unavailable"


@pytest.mark.redis
def test_the_stacks_redis_is_private(tmp_path: Path) -> None:
    command, url = command_of("redis", tmp_path), redis_url(tmp_path)
    with server(*command[1:], url=url), redis.Redis.from_url(url) as client:
        assert stat.S_IMODE((tmp_path / "redis.sock").stat().st_mode) == 0o700
        assert client.config_get("port") == {"port": "0"}
        assert client.config_get("save") == {"save": ""}


@dataclass
class Touch:
    """A pickle of this makes a file when it is read."""

    file: Path

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.file,)


@pytest.mark.redis
def test_a_pickle_in_the_cache_is_not_run(url: str, tmp_path: Path) -> None:
    file = tmp_path / "ran"
    pickle.loads(pickle.dumps(Touch(file)))  # noqa: S301  # it works
    file.unlink()
    shared = FailOpenRedisCache(url, {"OPTIONS": {"serializer": "nomercy.cache.JsonSerializer"}})
    with redis.Redis.from_url(url) as client:
        client.set(shared.make_and_validate_key("poisoned"), pickle.dumps(Touch(file)))
    assert shared.get("poisoned", "nothing") == "nothing"
    assert shared.get_many(["poisoned"]) == {}
    assert not file.exists()
    shared.set("healthy", 1)
    assert shared.get("healthy") == 1


def settings_with(redis_url: str) -> Any:
    """Return what the settings make of this address: of the cache, the broker and the channel layer."""
    found = read_settings(REDIS_URL=redis_url)
    return found["CACHES"], found["CELERY_BROKER_URL"], found["CHANNEL_LAYERS"]


def test_no_setting_lets_a_pickle_in() -> None:
    for address in ("", "unix:///run/nomercy/redis.sock?db=1"):
        caches_, _, layers = settings_with(address)
        for one in caches_.values():
            assert (one["BACKEND"], one["OPTIONS"].get("serializer")) in (
                ("nomercy.cache.MemoryCache", None),
                ("nomercy.cache.FailOpenRedisCache", "nomercy.cache.JsonSerializer"),
            )
        assert layers["default"].get("CONFIG", {}).get("serializer_format", "msgpack") == "msgpack"
    assert set(app.conf.accept_content) == {"json"}
    assert app.conf.task_serializer == "json"


def test_the_redis_url_is_converted_for_each_part() -> None:
    (cached, broker, layers) = settings_with("unix://:word@/run/nomercy/redis.sock?db=1")
    assert cached["default"]["LOCATION"] == "unix://:word@/run/nomercy/redis.sock?db=1"
    assert layers["default"]["CONFIG"]["hosts"][0]["address"] == "unix://:word@/run/nomercy/redis.sock?db=1"
    assert broker == "redis+socket://:word@/run/nomercy/redis.sock?virtual_host=1"


@pytest.mark.parametrize(
    ("value", "read", "broker"),
    [
        ("redis://host:6379/0", "redis://host:6379/0", "redis://host:6379/0"),
        ("rediss://:word@host/1", "rediss://:word@host/1", "rediss://:word@host/1"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock?db=0", "redis+socket:///run/redis.sock?virtual_host=0"),
        ("unix:///a%20b/r.sock?db=3", "unix:///a%20b/r.sock?db=3", "redis+socket:///a%20b/r.sock?virtual_host=3"),
        (
            "redis+socket:///run/redis.sock?virtual_host=2",
            "unix:///run/redis.sock?db=2",
            "redis+socket:///run/redis.sock?virtual_host=2",
        ),
        (
            "redis+socket://u:w@/run/redis.sock",
            "unix://u:w@/run/redis.sock?db=0",
            "redis+socket://u:w@/run/redis.sock?virtual_host=0",
        ),
    ],
)
def test_both_forms_of_a_redis_url_are_accepted(
    monkeypatch: pytest.MonkeyPatch, value: str, read: str, broker: str
) -> None:
    monkeypatch.setenv("REDIS_URL", value)
    assert Environment().redis("REDIS_URL") == read
    assert broker_url(read) == broker


@pytest.mark.parametrize(
    "value", ["unix://", "unix://host", "unix://run/redis.sock", "unix:///r.sock?db=x", "redis+socket://h/r"]
)
def test_other_redis_urls_are_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("REDIS_URL", value)
    with pytest.raises(SystemExit, match=r"REDIS_URL must look like redis://host:6379/0 or unix:///path/redis\.sock"):
        Environment().redis("REDIS_URL")


def test_the_memory_cache_behaves_like_redis() -> None:
    """So tests find values that Redis would not accept."""
    kept = MemoryCache("test_redis", {})
    kept.set("many", ("a", 1.5, None, True, {"b": [2]}))
    assert kept.get("many") == ["a", 1.5, None, True, {"b": [2]}]
    assert kept.add("counter", 0)
    assert not kept.add("counter", 5)
    assert kept.incr("counter", 2) == 2
    assert kept.get_many(["counter", "many"]).keys() == {"counter", "many"}
    with pytest.raises(TypeError, match="not JSON serializable"):
        kept.set("delta", timedelta(1))
    with pytest.raises(TypeError, match="not JSON serializable"):
        kept.add("delta", {1})
    assert kept.get("delta", "nothing") == "nothing"


def test_integers_can_be_incremented_in_redis() -> None:
    serializer = JsonSerializer()
    assert serializer.dumps(7) == 7
    assert serializer.dumps(True) == b"true"
    assert [serializer.loads(data) for data in (b"7", b"true", b'"7"')] == [7, True, "7"]
