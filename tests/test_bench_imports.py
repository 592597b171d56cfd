"""The benches can be imported before Django is set up, which they do once their database exists."""

from __future__ import annotations

import os
import subprocess
import sys

from django.conf import settings

COMMANDS = ("latency", "load", "moves", "page_bytes", "request", "siege", "sockets", "start", "timers")


def test_benches_can_be_imported_without_django() -> None:
    environ = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    imports = ", ".join(f"bench.{name}" for name in COMMANDS)

    done = subprocess.run(
        [sys.executable, "-c", f"import {imports}"],
        cwd=settings.CHECKOUT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
