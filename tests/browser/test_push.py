"""Notifications on a device, in Chromium: what the worker shows, and where a click leads.

The push service of its vendor cannot be reached, so the test puts the subscription in, and DevTools delivers what the
site would post.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from typing import Any, Final

import pytest
from django.utils import timezone
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.fixtures import Settings

from accounts.models import User
from games.models import Notice
from games.notices import messages, player_notices
from mail import web_push
from mail.channels.push import payload
from mail.models import PushSubscription
from tests.browser.places import MANY, Cast
from tests.conftest import logged_in
from tests.support.programs import CHROMIUM_FLAGS, WHOLE_CHROMIUM, program
from tests.support.push import Phone
from tests.support.waiting import until

SUBSCRIBED: Final = """([endpoint, p256dh, auth]) => {
    PushManager.prototype.getSubscription = async () => null;
    PushManager.prototype.subscribe = async () => ({ toJSON: () => ({ endpoint, keys: { p256dh, auth } }) });
}"""
SHOWN: Final = """async () => {
    const found = await (await navigator.serviceWorker.ready).getNotifications();
    return found.map(({ title, body, tag, data }) => ({ title, body, tag, data }));
}"""
CLICK: Final = """async () => {
    const [notification] = await self.registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}"""


@pytest.fixture
def device(browser: Browser, site: str, alice: User, settings: Settings) -> Iterator[BrowserContext]:
    """Alice's browser, which has allowed notifications. The headless shell, which other tests use, allows none."""
    whole = browser.browser_type.launch(executable_path=program(WHOLE_CHROMIUM), args=CHROMIUM_FLAGS)
    context = whole.new_context(base_url=site, permissions=["notifications"])
    context.set_default_timeout(60_000)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": logged_in(alice).cookies[name].value, "url": site}])
    yield context
    whole.close()


def push(page: Page, site: str, text: bytes) -> None:
    """Deliver a message to the worker of the site, as the push service does."""
    devtools = page.context.new_cdp_session(page)
    found: list[str] = []

    def registered(event: Any) -> None:
        found.extend(one["registrationId"] for one in event["registrations"] if one["scopeURL"] == f"{site}/")

    devtools.on("ServiceWorker.workerRegistrationUpdated", registered)
    devtools.send("ServiceWorker.enable")
    until("registered", lambda: page.evaluate("1") and found)
    message = {"origin": site, "registrationId": found[-1], "data": text.decode()}
    devtools.send("ServiceWorker.deliverPushMessage", message)


@pytest.mark.in_process
@pytest.mark.notifications
def test_a_device_is_set_up_notified_and_leads_to_the_table(
    device: BrowserContext, site: str, cast: Cast, alice: User, settings: Settings
) -> None:
    settings.OUTGOING_ALLOW = [ip_network("127.0.0.1")]
    table = cast.table(MANY)
    phone, page = Phone(), device.new_page()
    page.goto("/notices/settings/")
    keys = [urlsafe_base64_encode(part) for part in (web_push.public_bytes(phone.key), phone.auth)]
    page.evaluate(SUBSCRIBED, ["http://127.0.0.1/device", *keys])
    page.get_by_role("button", name="Notify this device").click()
    expect(page.get_by_text("this browser", exact=True)).to_be_visible()
    assert bytes(PushSubscription.objects.get(user=alice).auth) == phone.auth

    player_notices.deal(table, now=timezone.now() - timedelta(minutes=2))
    row = Notice.objects.select_related("user").get(user=alice, channel="push")
    [(_, message)] = messages.compose([row], timezone.now())
    assert message is not None
    text = payload(message, hides_names=False).replace(settings.SITE_URL.encode(), site.encode())
    push(page, site, text)
    until("shown", lambda: page.evaluate(SHOWN))
    address = f"{site}/games/{table.game.code}/"
    [shown] = page.evaluate(SHOWN)
    assert shown == {"title": message.title, "body": message.body, "tag": message.tag, "data": address}

    (worker,) = device.service_workers
    # Only a press of a person may open a window, and no test can press what the system shows.
    worker.evaluate("self.clients.openWindow = async (address) => { self.opened = address; }")
    worker.evaluate(CLICK)
    until("opened", lambda: worker.evaluate("self.opened") == address)
    assert page.evaluate(SHOWN) == []


def test_a_browser_without_permission_says_what_to_do(new_page: Any, alice: User) -> None:
    page = new_page(alice)
    page.goto("/notices/settings/")
    expect(page.get_by_text("This browser refuses notifications of this site.")).to_be_visible()
    expect(page.get_by_role("button", name="Notify this device")).to_be_hidden()
