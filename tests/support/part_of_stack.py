"""Runs some processes of `script/stack` on a migrated database: python -m tests.support.part_of_stack web ws.

It does not run `manage.py prepare`, so the static files are served from the sources.
"""

import sys
from unittest.mock import patch

from nomercy.launcher.processes import COMMANDS
from nomercy.launcher.stack import Stack, main


async def no_preparation(stack: Stack, environment: dict[str, str]) -> None:
    del environment["STATIC_ROOT"]


if __name__ == "__main__":
    assert set(sys.argv[1:]) <= COMMANDS.keys()
    for name in COMMANDS.keys() - sys.argv[1:]:
        del COMMANDS[name]
    with patch.object(Stack, "_prepare_site", no_preparation):
        main()
