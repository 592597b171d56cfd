"""Static files: vendored ones are listed, ours are small, and nothing needs an unsafe content security policy."""

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VENDOR = ROOT / "static" / "vendor"
ROWS = re.findall(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", (VENDOR / "VENDORED.md").read_text(), re.MULTILINE)
PAGES = sorted((ROOT / "templates").rglob("*.html"))
INLINE = (
    ("style attribute", re.compile(r"<[^>]+\sstyle\s*=")),
    ("style element", re.compile(r"<style\b")),
    ("event attribute", re.compile(r"<[^>]+\son[a-z]+\s*=")),
    ("script without a source", re.compile(r"<script(?![^>]*\s(?:src=|type=\"application/json\"))")),
    ("evaluated htmx attribute", re.compile(r"\shx-(?:on|vals|vars|headers)\b[^>]*js:|\shx-on")),
    ("foreign address", re.compile(r"(?:src|href)=\"(?:https?:)?//")),
)


@pytest.mark.parametrize(("name", "digest"), ROWS, ids=[name for name, _ in ROWS])
def test_vendored_files_match_their_published_hash(name: str, digest: str) -> None:
    assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == digest


def test_the_font_is_small() -> None:
    (font,) = VENDOR.glob("*.woff2")
    assert font.stat().st_size <= 15_000


def test_every_vendored_file_is_listed_or_a_licence() -> None:
    files = {file.name for file in VENDOR.iterdir() if not file.name.startswith("LICENSE-")}
    assert files == {name for name, _ in ROWS} | {"VENDORED.md"}


def test_a_template_has_nothing_inline() -> None:
    assert len(PAGES) > 100
    for page in PAGES:
        found = {what for what, pattern in INLINE if pattern.search(page.read_text())}
        # Mails have no such policy, and mail programs need inline styles. All else is wrong there, too.
        allowed = {"style attribute", "style element"} if "emails" in page.parts else set()
        assert found <= allowed, page


@pytest.mark.parametrize(
    "bad",
    [
        '<p style="color:red">',
        "<style>p{}</style>",
        '<button onclick="go()">',
        "<script>go()</script>",
        '<p hx-on:click="go()">',
        '<script src="https://cdn.example/x.js"></script>',
    ],
)
def test_the_scan_finds_what_it_looks_for(bad: str) -> None:
    assert any(pattern.search(bad) for _, pattern in INLINE)


def test_a_script_of_ours_evaluates_no_text() -> None:
    for script in (ROOT / "static" / "js").glob("*.js"):
        assert not re.search(r"\beval\(|new Function|innerHTML|setAttribute\(\"on", script.read_text()), script.name
