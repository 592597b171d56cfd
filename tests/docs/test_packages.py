"""The bill of materials of a running site, and how known vulnerabilities of its packages are judged."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nomercy.launcher.place import CHECKOUT

AUDIT = runpy.run_path(str(CHECKOUT / "script" / "audit.py"))
FINE: dict[str, Any] = {"name": "django", "version": "5.2.19", "vulns": []}
FAULT: dict[str, Any] = {"id": "CVE-2026-1", "fix_versions": ["1.1", "2.0"], "aliases": [], "description": "Bad."}
FAULTY: dict[str, Any] = {"name": "bad", "version": "1.0", "vulns": [FAULT]}
UNKNOWN: dict[str, Any] = {"name": "ours", "skip_reason": "Dependency not found: ours (1.0)"}


@pytest.mark.parametrize(
    ("packages", "status", "said"),
    [
        ([FINE], 0, "1 of 1 packages were"),
        ([FINE, FAULTY], 1, "bad 1.0: CVE-2026-1, fixed in 1.1, 2.0"),
        ([FINE, UNKNOWN], 75, "Dependency not found: ours (1.0)"),
        ([UNKNOWN, FAULTY], 1, "bad 1.0: CVE-2026-1"),
        ([], 75, "0 of 0 packages were"),
    ],
)
def test_a_known_vulnerability_fails_and_an_unknown_package_does_not_pass(
    packages: list[dict[str, Any]], status: int, said: str
) -> None:
    found, lines = AUDIT["verdict"](packages)

    assert found == status
    assert said in "\n".join(lines)


@pytest.mark.long
def test_an_unreachable_service_is_reported() -> None:
    nowhere = {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "PATH": ""}
    python = CHECKOUT / ".venv" / "bin" / "python"
    done = subprocess.run(
        [python, CHECKOUT / "script" / "audit.py"], env=nowhere, capture_output=True, text=True, check=False
    )

    assert done.returncode == 75, done.stderr
    assert done.stdout.startswith("SKIPPED: ")


@pytest.mark.long
def test_the_bill_of_materials_has_every_locked_package_with_its_hashes(tmp_path: Path) -> None:
    written = tmp_path / "sbom.json"
    subprocess.run([CHECKOUT / "script" / "sbom", written], capture_output=True, check=True)
    bill = json.loads(written.read_text())
    lock = "".join((CHECKOUT / "requirements" / f"{name}.lock").read_text() for name in ("run", "postgresql"))

    listed = {(part["name"], part["version"]) for part in bill["components"]}
    assert listed == set(re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==([^\s;]+)", lock, re.MULTILINE))
    assert len(listed) > 40
    hashes = {kept["content"] for part in bill["components"] for kept in part["externalReferences"][0]["hashes"]}
    assert hashes == set(re.findall(r"sha256:([0-9a-f]{64})", lock))
    assert bill["metadata"]["component"]["name"] == "nomercy"
    addresses = [ref["url"] for part in bill["components"] for ref in part["externalReferences"]]
    assert not [address for address in addresses if "://" in address]
