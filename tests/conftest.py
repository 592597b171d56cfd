"""Fixtures for all tests: the embedded database, the cast, and skips that are reported."""

import gc
import inspect
import os
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.auth.models import Group
from django.core.cache import caches
from django.test import Client, TransactionTestCase
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounts import log_ins
from accounts.actions import create_token
from accounts.models import User
from accounts.user_agents import UNKNOWN
from games import randomness
from games.models import rows
from games.queries import announcement
from nomercy import limits
from nomercy.launcher.place import place_for, secret_key
from nomercy.launcher.postgres import running
from nomercy.launcher.programs import system
from nomercy.sessions import SessionStore
from tests.support import openid
from tests.support.database import drop_databases_of_the_dead, empty, migrated_database, vacuum_large_tables
from tests.support.programs import CHROMIUM_NAMES, FIREFOX_NAMES, WHOLE_CHROMIUM, nginx, program, webkit

Figure = Callable[[str], None]
LEFT_OUT = pytest.StashKey[int]()
REQUIRE_ALL = os.environ.get("NOMERCY_REQUIRE_ALL") == "1"
NEEDS: dict[str, tuple[Callable[[], object], str, str]] = {
    "browser": (partial(program, CHROMIUM_NAMES), "Chromium", "apt-get install chromium"),
    "firefox": (partial(program, FIREFOX_NAMES), "Firefox", "apt-get install firefox-esr"),
    "nginx": (nginx, "nginx", "apt-get install nginx-light libnginx-mod-stream"),
    "notifications": (partial(program, WHOLE_CHROMIUM), "whole Chromium", "apt-get install chromium"),
    "postgresql": (system, "PostgreSQL", "apt-get install postgresql"),
    "redis": (partial(program, ("redis-server",)), "Redis", "apt-get install redis-server"),
    "systemd": (partial(program, ("systemd-analyze",)), "systemd", "apt-get install systemd"),
    "webkit": (webkit, "WebKit", "apt-get install webkit2gtk-driver xvfb"),
}
"""For each marker: a function that finds what it needs, its name, and how to install it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="also run the tests marked `long`")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out long tests without `--all`, else those that they contain, and let each process begin with them."""
    long = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if not item.get_closest_marker("long")]
    if config.getoption("--all"):
        contained = [item for item in others if item.get_closest_marker("contained")]
        others = [item for item in others if item not in contained]
        config.hook.pytest_deselected(items=contained)
        items[:] = _spread(long, others, processes=int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    elif long:
        items[:] = others
        config.hook.pytest_deselected(items=long)
        config.stash[LEFT_OUT] = len(long)


def _needs_browser(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(mark) for mark in ("browser", "firefox", "webkit"))


def _weight(items: list[pytest.Item]) -> int:
    """Return how long these long tests take, by comparison. Those of three folders start processes or browsers."""
    return sum(10 if item.path.parent.name in {"browser", "faults", "nomercy"} else 1 for item in items)


def _spread(long: list[pytest.Item], others: list[pytest.Item], *, processes: int) -> list[pytest.Item]:
    """Return all tests in an order whose equal parts, one a process, begin with long tests and end with others.

    The parts have equal numbers of tests, but the long ones are spread by the time they take. The short ones at the end
    are what an idle process takes over, so all processes end at the same time. The tests of a module stay together,
    because many modules start a server. Half of the processes begin with those with a browser, so that two sites and
    browsers are started and not four.
    """
    parts: list[list[pytest.Item]] = [[] for _ in range(processes)]
    weights = [0] * processes
    modules = [list(module) for _, module in groupby(long, key=lambda item: item.path)]
    for module in sorted(modules, key=_weight, reverse=True):
        lightest = min(range(0, processes, 2 if _needs_browser(module[0]) else 1), key=weights.__getitem__)
        parts[lightest].extend(module)
        weights[lightest] += _weight(module)
    for part in parts:
        part.sort(key=_needs_browser, reverse=True)
    size, rest = (len(long) + len(others)) // processes, iter(others)
    for part in parts:
        part.extend(islice(rest, max(0, size - len(part))))
    parts[-1].extend(rest)
    return [item for part in parts for item in part]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own, which the channel layer then uses."""
    if not inspect.iscoroutinefunction(pyfuncitem.function):
        return None
    from tests.support.sockets import run  # noqa: PLC0415  # most test runs need no ASGI app

    run(
        pyfuncitem.function(
            **{name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.function).parameters}
        )
    )
    return True


def pytest_collection() -> None:
    """Collect no garbage during the collection of the tests, because nearly all objects stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude the objects of the collection from garbage collection, and collect less often, to save time.

    With Python's thresholds, garbage collections take a tenth of the time of a test of pages.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over the number of left-out tests from an xdist worker. It is the same for all workers."""
    config: pytest.Config = node.config
    config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, 0)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, (find, thing, _) in NEEDS.items():
        if item.get_closest_marker(marker) and not find():
            reason = f"needs {thing}"
            if REQUIRE_ALL:
                pytest.fail(f"{reason}, and NOMERCY_REQUIRE_ALL allows no skip", pytrace=False)
            pytest.skip(reason)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{left_out} long tests were left out. To run them too: script/test --all")
    skipped = terminalreporter.stats.get("skipped", [])
    for _, thing, how in NEEDS.values():
        count = sum(f"needs {thing}" in str(report.longrepr) for report in skipped)
        if count:
            terminalreporter.write_line("")
            terminalreporter.write_line(
                f"{count} TESTS SKIPPED, because there is no {thing}. To run them: {how}", red=True, bold=True
            )
    ended = (report for state in terminalreporter.stats.values() for report in state)
    told = [one for report in ended if isinstance(report, pytest.TestReport) for one in report.user_properties]
    figures = [str(said) for name, said in told if name == "figure"]
    if figures:
        terminalreporter.section("figures")
        terminalreporter.write_line("\n".join(dict.fromkeys(figures)))


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Figure:
    """Return a function that reports a measured figure, which is printed at the end of the run."""
    return lambda said: request.node.user_properties.append(("figure", f"{request.node.name}: {said}"))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> Iterator[None]:
    """Run the embedded PostgreSQL during the tests, unless `DATABASE_URL` is set."""
    if os.environ.get("DATABASE_URL"):
        yield
        return
    secret_key(place_for())  # for a site that is started in this checkout later
    with running() as place:
        drop_databases_of_the_dead(place.url)
        yield


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: DjangoDbBlocker, django_db_modify_db_settings: None
) -> Iterator[None]:
    """Create the test database from a template, so that migrations do not run each time."""
    with django_db_blocker.unblock(), migrated_database(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: empty())
        yield


@pytest.fixture(scope="module", autouse=True)
def no_space_is_left_behind(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let no module slow the next ones with the rows that it has taken back."""
    yield
    with django_db_blocker.unblock():
        vacuum_large_tables()


@pytest.fixture(autouse=True)
def seeded_randomness(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make deals, dealers and names of bots the same in every run of a test."""
    monkeypatch.setattr(randomness, "source", random.Random(request.node.nodeid))


@pytest.fixture(autouse=True)
def one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the database's clock equal to the one that a test passes in.

    Processes that a test starts use the real difference.
    """
    monkeypatch.setattr(rows, "skew_between", lambda asked_at, moment: timedelta())


@pytest.fixture(autouse=True)
def nothing_counted_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delete the counts of requests that earlier tests made. No window of a limit ends during a test."""
    monkeypatch.setattr(limits, "clock", lambda: 3_600_000.0)
    for one in caches:
        caches[one].clear()


@pytest.fixture(autouse=True)
def nothing_announced_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pages read no announcement, so that the number of their queries does not depend on the clock."""
    monkeypatch.setattr(announcement.known, "row", None)
    monkeypatch.setattr(announcement.known, "read_at", float("inf"))


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The path of Chromium, for tests marked `browser`."""
    found = program(CHROMIUM_NAMES)
    assert found is not None
    return Path(found)


@pytest.fixture(scope="session")
def running_openid_provider() -> Iterator[openid.Provider]:
    with openid.running_provider() as running:
        yield running


@pytest.fixture
def provider(running_openid_provider: openid.Provider, settings: Any) -> openid.Provider:
    """An OpenID provider that is that of the site."""
    running_openid_provider.reset()
    openid.set_up(settings, running_openid_provider)
    return running_openid_provider


def person(name: str) -> User:
    """Create one of the cast. The password is the name."""
    user = get_user_model().objects.create_user(username=name, email=f"{name}@example.org", password=name)
    assert isinstance(user, User)
    return user


@pytest.fixture
def alice(db: None) -> User:
    return person("alice")


@pytest.fixture
def bob(db: None) -> User:
    return person("bob")


@pytest.fixture
def charlie(db: None) -> User:
    """The outsider."""
    return person("charlie")


@pytest.fixture
def mo(db: None) -> User:
    """The moderator."""
    return staff("mo", "moderator")


@pytest.fixture
def ann(db: None) -> User:
    """The admin."""
    return staff("ann", "admin")


@pytest.fixture
def root(db: None) -> User:
    """The superuser."""
    user = person("root")
    user.is_staff = user.is_superuser = True
    user.save(update_fields=["is_staff", "is_superuser"])
    return user


def staff(name: str, role: str) -> User:
    """A member of staff with this role."""
    user = person(name)
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def as_alice(alice: User) -> Client:
    """Alice's browser."""
    return logged_in(alice)


@pytest.fixture
def as_bob(bob: User) -> Client:
    return logged_in(bob)


def api_token(user: User) -> str:
    """A new API token of this person's."""
    return create_token(user=user, name="test", now=timezone.now())


def logged_in(user: User) -> Client:
    """Return a browser with the session of somebody who logged in some time ago.

    The rows are written directly, because a log-in takes eighteen statements. `tests/accounts/test_log_ins.py` compares
    them with those of a log-in.
    """
    now = timezone.now()
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "accounts.backends.ByUsername"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session[log_ins.SINCE] = now.isoformat()
    session[log_ins.BROWSER] = UNKNOWN
    row = session.create_model_instance(dict(session.items()))
    row.save(force_insert=True)
    user.last_login = now
    User.objects.filter(pk=user.pk).update(last_login=now)
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = row.session_key
    return client
