"""What is posted to a hook: the message in the form of its receiver, and the signature."""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.header import Header
from typing import Final

from common.encryption import decrypt
from common.readers_language import say
from mail.hooks import SECRET_PREFIX
from mail.models import Hook
from mail.sources import Message

JSON_TYPE: Final = "application/json"
HOSTS: Final[Mapping[str, str]] = {
    "discord.com": Hook.Form.DISCORD,
    "discordapp.com": Hook.Form.DISCORD,
    "hooks.slack.com": Hook.Form.SLACK,
    "chat.googleapis.com": Hook.Form.SLACK,
    "ntfy.sh": Hook.Form.NTFY,
}
"""The form for a host, and for those below it."""
SLACK: Final = "slack.com"
_MARKDOWN: Final = re.compile(r"([\\*_~`|\[\]<>])")


@dataclass(frozen=True, slots=True)
class Payload:
    """A body to post, and the headers that belong to it."""

    body: bytes
    headers: Mapping[str, str]


def form_of(hook: Hook) -> str:
    """Return the form of what is posted: the one that was chosen, or that of the host."""
    if hook.form != Hook.Form.AUTO:
        return hook.form
    found = (form for host, form in HOSTS.items() if hook.host == host or hook.host.endswith(f".{host}"))
    return next(found, Hook.Form.JSON)


def payload_of(hook: Hook, message: Message) -> Payload:
    """Return what is posted about a message."""
    mention = hook.mention if message.to_reader else ""
    match form_of(hook):
        case Hook.Form.DISCORD:
            return _discord(message, mention if mention.isdigit() else "")
        case Hook.Form.SLACK:
            return _slack(message, mention, in_slack=hook.host.endswith(f".{SLACK}"))
        case Hook.Form.NTFY:
            return _ntfy(message)
    return _json(message)


def signature(hook: Hook, name: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that sign a body (https://www.standardwebhooks.com).

    :param name: the same at each try of a message, and for no other one.
    :raises Undecryptable: the site's secret key was changed.
    """
    key = base64.b64decode(decrypt(hook.secret).removeprefix(SECRET_PREFIX))
    seconds = str(int(at.timestamp()))
    signed = hmac.digest(key, b".".join((name.encode(), seconds.encode(), body)), hashlib.sha256)
    return {
        "webhook-id": name,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
    }


def text_of(message: Message, who: str = "") -> str:
    """Return what a message says, without its URL, to a channel where the person, or `who`, is one of several."""
    who = who or message.person
    if not message.body:
        return say.text("webhook", "{who}: {title}", who=who, title=message.title)
    return say.text("webhook", "{who}: {title} · {body}", who=who, title=message.title, body=message.body)


def _discord(message: Message, mention: str) -> Payload:
    shown = _escaped(message, lambda text: _MARKDOWN.sub(r"\\\1", text))
    # Nobody else can be mentioned, whatever names say.
    allowed = {"parse": [], "users": [mention] if mention else []}
    text = text_of(shown, mention and f"<@{mention}>")
    return _as_json({"content": f"{text} {message.url}", "allowed_mentions": allowed})


def _slack(message: Message, mention: str, *, in_slack: bool) -> Payload:
    shown = _escaped(message, _plain_in_slack)
    text = text_of(shown, mention and (f"<@{mention}>" if in_slack else f"@{mention}"))
    return _as_json({"text": f"{text} {message.url}"})


def _plain_in_slack(text: str) -> str:
    """Return a text that formats nothing and mentions nobody in Slack, Mattermost and Google Chat."""
    return html.escape(text, quote=False).replace("@", "@\N{WORD JOINER}")


def _escaped(message: Message, escape: Callable[[str], str]) -> Message:
    return replace(message, title=escape(message.title), body=escape(message.body), person=escape(message.person))


def _ntfy(message: Message) -> Payload:
    # A header has no other letters than ASCII. ntfy reads RFC 2047.
    title = Header(message.title, "ascii" if message.title.isascii() else "utf-8", maxlinelen=1000).encode()
    headers = {"Content-Type": "text/plain; charset=utf-8", "Title": title, "Click": message.url}
    return Payload(text_of(message).encode(), headers)


def _json(message: Message) -> Payload:
    return _as_json(
        {
            "kind": message.kind,
            "game": message.game or None,
            "url": message.url,
            "text": text_of(message),
            "deadline": message.deadline and message.deadline.astimezone(UTC).isoformat(),
            "person": message.person,
            "version": message.version,
        }
    )


def _as_json(content: Mapping[str, object]) -> Payload:
    return Payload(json.dumps(content, ensure_ascii=False).encode(), {"Content-Type": JSON_TYPE})
