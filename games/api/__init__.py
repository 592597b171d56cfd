"""The JSON API, version 1: the same actions as the pages, for programs."""

from games.api.addresses import addresses, unknown
from games.api.routes import api

__all__ = ["addresses", "api", "unknown"]
