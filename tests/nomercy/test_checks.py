"""Wrong settings stop the start with one clear sentence, and never repeat a password."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import structlog

from nomercy.checks import Environment, check_debug, check_secret_key
from nomercy.launcher.place import CHECKOUT


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PORT", "many", "PORT must be a whole number from 1 to 65535."),
        ("PORT", "70000", "PORT must be a whole number from 1 to 65535."),
        ("PORT", "8_000", "PORT must be a whole number from 1 to 65535."),
        ("RATE_LIMITS", "yes", "RATE_LIMITS must be a whole number from 0 to 1000000."),
        ("VACATION_DAYS", "9" * 5000, "VACATION_DAYS must be a whole number from 0 to 366."),
        ("HOST", "http://0.0.0.0", "HOST must be an address of this machine without scheme and port, like 0.0.0.0."),
        ("HOST", "0.0.0.0:8000", "HOST must be an address of this machine without scheme and port, like 0.0.0.0."),
        ("HOST", "[::]", "HOST must be an address of this machine without scheme and port, like 0.0.0.0."),
        ("DEBUG", "perhaps", "DEBUG must be 1 or 0."),
        ("BEHIND_PROXY", "nginx", "BEHIND_PROXY must be a whole number from 0 to 5."),
        ("EMAIL_VERIFICATION", "always", "EMAIL_VERIFICATION must be one of none, optional, mandatory."),
        ("LOG_FORMAT", "xml", "LOG_FORMAT must be one of console, json."),
        ("DATABASE_URL", "sqlite:///hidden.db", "No Mercy needs PostgreSQL."),
        (
            "DATABASE_URL",
            "postgres://u:hidden@host/",
            "DATABASE_URL must look like postgres://user:password@host:5432/name.",
        ),
        ("DATABASE_URL", "postgres://u:hidden@host:port/name", "DATABASE_URL is not a valid URL."),
        ("REDIS_URL", "127.0.0.1:6379", "REDIS_URL must look like redis://host:6379/0 or unix:///path/redis.sock."),
        (
            "REDIS_URL",
            "http://u:hidden@host",
            "REDIS_URL must look like redis://host:6379/0 or unix:///path/redis.sock.",
        ),
        ("SITE_URL", "cards.example.org", "SITE_URL must be the URL of the site"),
        ("SITE_URL", "https://cards.example.org/games", "without a path, like https://cards.example.org."),
        ("SITE_URL", "https://cards.example.org#games", "without a path, like https://cards.example.org."),
        ("SITE_URL", "https://u:hidden@host", "without a path, like https://cards.example.org."),
        ("SITE_URL", 'https://cards.example.org"', "without a path, like https://cards.example.org."),
        ("SITE_URL", "https://cards.example.org:", "without a path, like https://cards.example.org."),
        ("SITE_URL", "https://cards.example.org, https://x.example", "without a path, like https://cards.example.org."),
        ("ALLOWED_HOSTS", "a.example, https://b.example", "ALLOWED_HOSTS must be host names without scheme and port"),
        ("ALLOWED_HOSTS", "a.example:8000", "ALLOWED_HOSTS must be host names without scheme and port"),
        ("REDIS_URL", "redis://:hidden@host:6379/games", "REDIS_URL must look like redis://host:6379/0 or"),
        ("EMAIL_URL", "mail://u:hidden@host", "EMAIL_URL must look like smtp+tls://user:password@host:587"),
        ("EMAIL_URL", "smtp://host:587/?tls=1", "EMAIL_URL must look like smtp+tls://user:password@host:587"),
        ("EMAIL_URL", "smtp://u:1#hide@host", "(or smtp://, smtps://), with special characters like %40."),
        ("EMAIL_FROM", "No Mercy", "EMAIL_FROM must be one address, like cards@example.org or No Mercy <cards@"),
        ("EMAIL_FROM", "a@b.example, c@d.example", "EMAIL_FROM must be one address"),
        ("EMAIL_FROM", "Cards, Inc <a@b.example>", "EMAIL_FROM must be one address"),
        ("EMAIL_FROM", "No Mercy <a@b.example>\nhidden", "EMAIL_FROM has a line break or another control character."),
        ("SECRET_KEY", "hidden\x1b" * 9, "SECRET_KEY has a line break or another control character."),
        ("BACKUP_PASSPHRASE", "hidden", "BACKUP_PASSPHRASE must be at least 12 characters long."),
        ("BACKUP_PASSPHRASE", " ", "BACKUP_PASSPHRASE is set and empty. Remove it if backups are not to be encrypted."),
        ("BACKUP_PASSPHRASE_FILE", "", "BACKUP_PASSPHRASE is set and empty."),
        ("BACKUP_PASSPHRASE_FILE", "/nowhere", "the file of BACKUP_PASSPHRASE_FILE cannot be read: No such file"),
        ("STATIC_ROOT", "static", "STATIC_ROOT must be an absolute path."),
        ("STATEMENT_TIMEOUT_MS", "-1", "STATEMENT_TIMEOUT_MS must be a whole number from 0"),
        ("IDLE_TRANSACTION_TIMEOUT_MS", "a", "IDLE_TRANSACTION_TIMEOUT_MS must be a whole number from 0"),
        ("SECRET_KEY", "short-hidden", "SECRET_KEY must be at least 32 characters long."),
        ("SECRET_KEY_FALLBACKS", f"{'k' * 40},short-hidden", "SECRET_KEY_FALLBACKS must be former keys"),
    ],
)
def test_a_wrong_setting_stops_the_start_with_one_sentence(name: str, value: str, sentence: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        read_settings(**{name: value})

    message = str(stopped.value)  # what Python prints when it exits with status 1, as test_embedded.py sees
    assert message.startswith("No Mercy does not start: ")
    assert sentence in message
    assert "\n" not in message
    assert "hidden" not in message


def test_a_passphrase_of_backups_is_set_in_one_way_only() -> None:
    with pytest.raises(SystemExit, match="BACKUP_PASSPHRASE and BACKUP_PASSPHRASE_FILE are both set; set one of them"):
        read_settings(BACKUP_PASSPHRASE="a long passphrase", BACKUP_PASSPHRASE_FILE="/nowhere")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SITE_URL", "HTTPS://Cards.Example.org:8443/"),
        ("SITE_URL", "http://[::1]:8000"),
        ("HOST", "::1"),
        ("HOST", "localhost"),
        ("ALLOWED_HOSTS", "127.0.0.1, [::1], .example.org"),
        ("REDIS_URL", "rediss://:p@host"),
        ("EMAIL_FROM", "cards@example.org"),
        ("EMAIL_FROM", "cards.example.org <cards@example.org>"),
        ("EMAIL_FROM", '"Cards, Inc" <cards@example.org>'),
        ("EMAIL_FROM", "Spiele für alle <cards@example.org>"),
        ("BACKUP_PASSPHRASE", "a long passphrase"),
    ],
)
def test_right_settings_are_taken(name: str, value: str) -> None:
    read_settings(**{name: value})


def test_links_have_the_port_of_the_site() -> None:
    assert read_settings(PORT="8123")["SITE_URL"] == "http://127.0.0.1:8123"


def test_database_url_requires_secret_key() -> None:
    with pytest.raises(SystemExit, match="SECRET_KEY must be set when DATABASE_URL is"):
        read_settings(SECRET_KEY="", DATABASE_URL="postgres://u:p@host/name")


def test_database_timeouts_are_set() -> None:
    timeouts = {"lock_timeout": "2000", "statement_timeout": "5000", "idle_in_transaction_session_timeout": "60000"}
    shown = read_settings()["database_options"]["options"]
    assert all(f"-c {name}={value}" in shown for name, value in timeouts.items())


def test_debug_is_only_allowed_on_this_machine() -> None:
    site = Environment().site("NO_SUCH_VARIABLE", "https://cards.example.org")

    with pytest.raises(SystemExit, match="only with a SITE_URL on this machine"):
        check_debug(debug=True, site=site)
    check_debug(debug=False, site=site)
    check_debug(debug=True, site=Environment().site("NO_SUCH_VARIABLE", "http://[::1]:8000"))


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"HSTS_SUBDOMAINS": "1"}, "HSTS_SUBDOMAINS and HSTS_PRELOAD need a SITE_URL that begins with https."),
        ({"HSTS_PRELOAD": "1", "SITE_URL": "https://cards.example.org"}, "HSTS_PRELOAD needs HSTS_SUBDOMAINS=1."),
    ],
    ids=str,
)
def test_hsts_settings_that_contradict_others_stop_the_start(variables: dict[str, str], sentence: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        read_settings(**variables)
    assert str(stopped.value) == f"No Mercy does not start: {sentence}"


@pytest.mark.parametrize(("chosen", "header"), [("0", (False, False)), ("1", (True, True))])
def test_subdomains_and_preload_are_chosen(chosen: str, header: tuple[bool, bool]) -> None:
    settings = read_settings(SITE_URL="https://cards.example.org", HSTS_SUBDOMAINS=chosen, HSTS_PRELOAD=chosen)
    assert settings["SECURE_HSTS_SECONDS"] == 31_536_000
    assert (settings["SECURE_HSTS_INCLUDE_SUBDOMAINS"], settings["SECURE_HSTS_PRELOAD"]) == header


def test_the_embedded_database_needs_no_secret_key() -> None:
    check_secret_key("", embedded=True)
    with pytest.raises(SystemExit):
        check_secret_key("", embedded=False)


def test_the_mail_url_is_parsed() -> None:
    settings = read_settings(EMAIL_URL="smtp+tls://me%40home:pass%2Fword@mail.example.org")

    names = ("HOST_USER", "HOST_PASSWORD", "HOST", "PORT", "USE_TLS", "USE_SSL")
    assert [settings[f"EMAIL_{name}"] for name in names] == [
        "me@home",
        "pass/word",
        "mail.example.org",
        587,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("variables", "asked", "needed"),
    [
        ({}, "none", False),
        ({"EMAIL_URL": "smtp://mail.example.org"}, "optional", True),
        ({"EMAIL_URL": "smtp://mail.example.org", "EMAIL_VERIFICATION": "none"}, "none", True),
    ],
    ids=str,
)
def test_with_a_mail_server_addresses_are_confirmed(variables: dict[str, str], asked: str, needed: bool) -> None:
    settings = read_settings(**variables)

    assert (settings["ACCOUNT_EMAIL_VERIFICATION"], settings["MAIL_NEEDS_VERIFIED"]) == (asked, needed)


@pytest.mark.parametrize("module", ["nomercy.server pages", "nomercy.launcher.embedded"])
def test_pages_are_not_served_without_the_collected_files(module: str, tmp_path: Path) -> None:
    services = {"DATABASE_URL": "postgres://u:p@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1/0"}
    own = {"SECRET_KEY": "k" * 40, "NOMERCY_ENV_FILE": "", "STATIC_ROOT": str(tmp_path)}
    refused = subprocess.run(
        [sys.executable, "-m", *module.split()],
        cwd=CHECKOUT, env={"PATH": os.defpath, **services, **own},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert f"STATIC_ROOT is {tmp_path}, and no static files are there. Run manage.py collectstatic" in refused.stderr


def read_settings(**variables: str) -> dict[str, Any]:
    """Run the settings with these environment variables and no others, beside those of the tests.

    :raises SystemExit: a setting is wrong.
    """
    logging = structlog.get_config()
    try:
        with patch.dict(os.environ, {"SECRET_KEY": "k" * 40, "NOMERCY_ENV_FILE": "", **variables}, clear=True):
            return runpy.run_path(str(CHECKOUT / "nomercy" / "settings.py"))
    finally:
        structlog.configure(**logging)  # else loggers that are in use would no longer be captured by other tests
