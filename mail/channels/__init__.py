"""The channels by which people are reached. To add one, write a module with its row, and name the row here."""

from typing import Final

from mail.channels.base import Channel
from mail.channels.email import EMAIL
from mail.channels.hook import HOOK
from mail.channels.push import PUSH
from mail.channels.site import SITE

__all__ = ["CHANNELS", "EMAIL", "HOOK", "PUSH", "SITE", "Channel"]

CHANNELS: Final[dict[str, Channel]] = {channel.name: channel for channel in (SITE, EMAIL, PUSH, HOOK)}
"""Every channel by name, in the order in which they are served and shown."""
