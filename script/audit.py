"""Look up known vulnerabilities of the locked packages: `.venv/bin/python script/audit.py`. `script/check` runs it.

Exits with 0 if the advisory service knows of none, 1 if it knows of one, and 75 if it gave no answer about all or some
of the packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

REQUIREMENTS: Final = Path(__file__).parent.parent / "requirements"
LOCKS: Final = (REQUIREMENTS / "run.lock", REQUIREMENTS / "postgresql.lock")
CLEAN: Final = 0
VULNERABLE: Final = 1
SKIPPED: Final = 75
LONGEST: Final = 60
"""The time limit in seconds."""


def verdict(packages: list[dict[str, Any]]) -> tuple[int, list[str]]:
    """Return the exit status and the lines to print, from the `dependencies` of pip-audit's report."""
    found = [
        f"{package['name']} {package['version']}: {vulnerability['id']}, "
        f"fixed in {', '.join(vulnerability['fix_versions']) or 'none'}"
        for package in packages
        for vulnerability in package.get("vulns", ())
    ]
    unknown = [package for package in packages if "skip_reason" in package]
    asked = len(packages) - len(unknown)
    lines = [f"{asked} of {len(packages)} packages were looked up.", *found]
    if unknown:
        lines.append(f"First of the others: {unknown[0]['skip_reason']}.")
    if found:
        return VULNERABLE, lines
    return (SKIPPED if unknown or not packages else CLEAN), lines


def report() -> list[dict[str, Any]]:
    """Return the `dependencies` of pip-audit's report about the lock files. Nothing is resolved or installed.

    :raises OSError: the service gave no answer. The message is the last line of pip-audit's output.
    """
    wanted = ("--require-hashes", "--disable-pip", *(f"--requirement={lock}" for lock in LOCKS))
    command = (sys.executable, "-m", "pip_audit", *wanted, "--timeout", "5", "--progress-spinner", "off", "-f", "json")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
    except subprocess.TimeoutExpired as slow:
        raise OSError(f"no answer in {LONGEST} seconds") from slow
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError) as nothing:
        said = done.stderr.strip().splitlines() or ["no output"]
        raise OSError(said[-1]) from nothing
    return packages


def main() -> int:
    try:
        status, lines = verdict(report())
    except OSError as error:
        status, lines = SKIPPED, [f"The advisory service could not be asked: {error}"]
    if status == SKIPPED:
        lines.insert(0, "SKIPPED: it is not known whether the locked packages have known vulnerabilities.")
    sys.stdout.write("\n".join(lines) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
