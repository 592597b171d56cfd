"""Check that no file of the project holds a secret. `script/check` runs this."""

from __future__ import annotations

import re
import subprocess
from typing import Final

import pytest

from nomercy.launcher.place import CHECKOUT

KINDS: Final = {
    "private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "API token of ours": re.compile(r"nomercy_[A-Za-z0-9_-]{43}\b"),
    "cloud key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "forge token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|glpat-[A-Za-z0-9_-]{20})\b"),
    "password in an address": re.compile(
        r"\b(?:postgres(?:ql)?|rediss?|smtp(?:s|\+tls)?)://[^\s:/@]+:"
        r"(?!password|word|pass%2Fword|check|secret|\$|%|\{|<)[^\s@/]{8,}@"
    ),
    "secret in a setting": re.compile(
        r"(?m)^\s*(?:export )?(?:SECRET_KEY|EMAIL_URL)=(?![\"'$<]|$)[A-Za-z0-9+/_-]{32,}"
    ),
}


def secrets_in(text: str) -> list[str]:
    """Return the kinds of secrets that a text holds."""
    return [kind for kind, pattern in KINDS.items() if pattern.search(text)]


def test_no_file_of_the_project_holds_a_secret() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=False)  # noqa: S607
    if listed.returncode:
        pytest.skip("not a git checkout: what belongs to the project is not known")
    names = [name for name in listed.stdout.decode().split("\0") if name and (CHECKOUT / name).is_file()]
    assert len(names) > 200
    found = {name: secrets_in((CHECKOUT / name).read_bytes().decode("utf-8", "ignore")) for name in names}
    assert {name: kinds for name, kinds in found.items() if kinds} == {}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-----BEGIN RSA PRIVATE" + " KEY-----", "private key"),
        ("token: nomercy_" + "a" * 43, "API token of ours"),
        ("AKIA" + "A1" * 8, "cloud key"),
        ("ghp_" + "a" * 36, "forge token"),
        ("postgres://joe:" + "hunter2hunter2@db/x", "password in an address"),
        ("SECRET_KEY=" + "x9" * 20, "secret in a setting"),
    ],
)
def test_the_scan_finds_each_kind(text: str, kind: str) -> None:
    assert secrets_in(f"harmless\n{text}\n") == [kind]
