"""Check that the docs agree with the code."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.template.loader import get_template

from games.rules.rulebook import events_markdown, presets_markdown
from nomercy import settings
from nomercy.launcher.place import CHECKOUT

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAME = re.compile(r"^[A-Za-z0-9._-]+")
LONGEST_LINE = 160
LONGEST_LINE_OF_STYLES = 120


def markdown_files() -> list[Path]:
    return [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")]


def relative_links(text: str) -> Iterator[str]:
    """Yield the links of a page that lead to files of the project."""
    for target in LINK.findall(text):
        if not re.match(r"[a-z]+:|#|/", target):
            yield unquote(target.split("#")[0])


def test_the_link_check_ignores_other_addresses() -> None:
    page = "[a](b.md) [c](https://example.org) ![d](e/f.png) [g](#h) [i](j%20k.md#l) [m](/rules/)"

    assert list(relative_links(page)) == ["b.md", "e/f.png", "j k.md"]


def test_every_relative_link_leads_to_a_file() -> None:
    links = [(page, link) for page in markdown_files() for link in relative_links(page.read_text())]

    assert len(links) > 100
    assert [(page, link) for page, link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", ["README.md", "docs/settings.md"])
def test_every_setting_is_documented(page: str) -> None:
    text = (CHECKOUT / page).read_text()

    assert [name for name in settings.environment.names if f"`{name}`" not in text] == []
    assert len(settings.environment.names) > 10


def test_the_page_of_the_api_has_the_presets_and_options() -> None:
    """If this fails, replace the tables of docs/api.md with the output of `python -m games.rules presets`."""
    assert f"\n{presets_markdown()}\n" in (CHECKOUT / "docs" / "api.md").read_text()


def test_the_page_of_the_api_has_every_kind_of_event() -> None:
    """If this fails, replace the table of docs/api.md with the output of `python -m games.rules events`."""
    assert f"\n{events_markdown()}\n" in (CHECKOUT / "docs" / "api.md").read_text()


def test_every_security_promise_names_existing_tests() -> None:
    page = (CHECKOUT / "SECURITY.md").read_text()
    promises = page[page.index("\n## What is promised") : page.index("\n## What is not")]
    rows = re.findall(r"^\| [A-Z].*\| (.+) \|$", promises, re.MULTILINE)
    assert len(rows) > 15
    for shown_by in rows:
        named = re.findall(r"`((?:tests|bench)/[^`]+)`", shown_by)
        assert named, shown_by
        assert [path for path in named if not (CHECKOUT / path).exists()] == []


def test_every_dependency_has_a_documented_reason() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    wanted = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["dev"],
        *project["dependency-groups"]["bootstrap"],
        *project["dependency-groups"]["postgresql"],
    ]
    told = set(re.findall(r"^\| `([^`]+)` \| \S", (CHECKOUT / "docs" / "dependencies.md").read_text(), re.MULTILINE))

    assert {match[0] for match in map(NAME.match, wanted) if match} == told


def test_the_lock_files_contain_no_address() -> None:
    for lock in (CHECKOUT / "requirements").glob("*.lock"):
        assert "://" not in lock.read_text(), lock
        assert "--hash=sha256:" in lock.read_text()


def test_the_place_of_nginx_by_hand_names_what_that_of_compose_names() -> None:
    page = (CHECKOUT / "docs" / "by-hand.md").read_text()
    (example,) = re.findall(r"```nginx\n# \S+/place.conf\n(.*?)```", page, re.DOTALL)
    named = r"(?m)^(map \S+ \$\w+|ssl_\w+)"
    assert re.findall(named, example) == re.findall(named, (CHECKOUT / "docker" / "nginx" / "place.conf").read_text())


def test_every_script_is_documented_and_runs_under_a_plain_shell() -> None:
    told = (CHECKOUT / "CONTRIBUTING.md").read_text()
    for script in ("run", "test", "check", "stack", "sbom", "containers"):
        assert f"`script/{script}`" in told
    for path in (CHECKOUT / "script").iterdir():
        if path.is_file() and path.read_text().startswith("#!/bin/sh\n"):
            assert subprocess.run(["/bin/sh", "-n", path], check=False).returncode == 0, path


def templates() -> list[str]:
    folder = CHECKOUT / "templates"
    names = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix in {".html", ".txt"})
    return sorted(name.removeprefix("jinja2/") for name in names)


def test_every_template_compiles() -> None:
    assert len([get_template(name) for name in templates()]) > 100


def long_lines(text: str, longest: int = LONGEST_LINE) -> list[int]:
    """Return the numbers of the lines that are longer than this."""
    return [n for n, line in enumerate(text.splitlines(), 1) if len(line) > longest]


def test_the_line_check_finds_a_line_that_is_too_long() -> None:
    assert long_lines(f"{'a' * LONGEST_LINE}\n{'a' * (LONGEST_LINE + 1)}\n\n") == [2]


def test_no_line_of_a_template_is_too_long() -> None:
    pages = sorted((CHECKOUT / "templates").rglob("*.html"))
    assert len(pages) > 50
    assert {str(page.relative_to(CHECKOUT)): found for page in pages if (found := long_lines(page.read_text()))} == {}


def crowded_lines(styles: str) -> list[int]:
    """Return the numbers of the lines of a style sheet on which something follows a declaration or a brace."""
    without_comments = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), styles, flags=re.DOTALL)
    return [n for n, line in enumerate(without_comments.splitlines(), 1) if re.search(r"[;{}]\s*\S", line)]


def test_the_check_of_styles_finds_two_declarations_on_a_line() -> None:
    assert crowded_lines("a {\n  b: c; d: e;\n}\n/* f;\n g; h */\ni { j: k }\nl {\n  m: n; /* o */\n}\n") == [2, 6]


def test_style_sheets_have_one_declaration_a_line() -> None:
    sheets = {path.name: path.read_text() for path in (CHECKOUT / "static" / "css").rglob("*.css")}
    assert len(sheets) > 10
    assert {name: found for name, text in sheets.items() if (found := crowded_lines(text))} == {}
    assert {name: found for name, text in sheets.items() if (found := long_lines(text, LONGEST_LINE_OF_STYLES))} == {}


def test_every_decision_has_its_sections_and_is_in_the_index() -> None:
    folder, sections = CHECKOUT / "docs" / "decisions", ["Context", "Choice", "Rejected"]
    pages, index = sorted(folder.glob("[0-9]*.md")), (folder / "README.md").read_text()
    assert len(pages) > 30
    for page in pages:
        text = page.read_text()
        title = text.partition("\n")[0].removeprefix("# ")
        assert int(page.stem[:4]) == int(title.partition(".")[0]), page.name
        found = re.findall(r"^\*\*(Context|Choice|Rejected)\.\*\*", text, re.MULTILINE)
        assert found == sections, page.name
        assert f"- [{title}]({page.name})\n" in index, page.name
