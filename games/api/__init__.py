"""The JSON API, version 1: tables, moves and clocks for programs."""

from games.api.addresses import addresses, unknown
from games.api.routes import api

__all__ = ["addresses", "api", "unknown"]
