"""Wrong settings stop the start with one clear sentence, and never repeat a password."""

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nomercy.launcher.place import CHECKOUT

DEBUG_ELSEWHERE = "DEBUG shows secrets on error pages. Use it only with a SITE_URL on this machine."
CLOSED_WITH_GUESTS = "REGISTRATION=closed means that nobody becomes a user, but guests are users. Set GUESTS=0 as well."
MEMBERS_INVITE_NOBODY = "INVITATIONS=members needs REGISTRATION=invite. It is open, where invitations change nothing."
VISITORS_WITH_GUESTS = (
    "LOGIN_REQUIRED=1 means that visitors see no tables, but guests begin as visitors. Set GUESTS=0 as well."
)


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
        ("DATABASE_URL", "postgres://u:hidden@host:port/name", "DATABASE_URL must look like postgres://user:password@"),
        ("REDIS_URL", "127.0.0.1:6379", "REDIS_URL must look like redis://host:6379/0 or unix:///path/redis.sock."),
        (
            "REDIS_URL",
            "http://u:hidden@host",
            "REDIS_URL must look like redis://host:6379/0 or unix:///path/redis.sock.",
        ),
        ("SITE_URL", "cards.example.org", "SITE_URL must be the URL of the site"),
        ("SITE_URL", "https://cards.example.org/games", "without a path, like https://cards.example.org"),
        ("SITE_URL", "https://cards.example.org#games", "without a path, like https://cards.example.org"),
        ("SITE_URL", "https://u:hidden@host", "without a path, like https://cards.example.org"),
        ("SITE_URL", 'https://cards.example.org"', "without a path, like https://cards.example.org"),
        ("SITE_URL", "https://cards.example.org:", "without a path, like https://cards.example.org"),
        ("SITE_URL", "https://cards.example.org, https://x.example", "without a path, like https://cards.example.org"),
        ("ALLOWED_HOSTS", "a.example, https://b.example", "ALLOWED_HOSTS must be host names without scheme and port"),
        ("SITE_URL", "https://kärten.example", "like https://cards.example.org (letters as xn--…)."),
        ("ALLOWED_HOSTS", "a.example,kärten.example", "separated by commas (other letters as xn--…)."),
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
        ("REGISTRATION", "members", "REGISTRATION must be one of open, invite, closed."),
        ("GUESTS", "some", "GUESTS must be 1 or 0."),
        ("OUTGOING_ALLOW", "127.0.0.1/8", "OUTGOING_ALLOW must be addresses or networks, separated by commas"),
        ("OUTGOING_ALLOW", "localhost", "OUTGOING_ALLOW must be addresses or networks, separated by commas"),
        (
            "SENTRY_DSN",
            "https://sentry.example.org/hidden",
            "SENTRY_DSN must look like https://key@sentry.example.org/1.",
        ),
        ("METRICS_TOKEN", "hidden", "METRICS_TOKEN must have at least 20 letters, digits, dots, hyphens or"),
        ("METRICS_TOKEN", "hidden token with spaces", "or underscores, and nothing else."),
        ("SITE_NAME", "42", "SITE_NAME must be a name with a letter and at most 40 characters."),
        ("SITE_NAME", "hidden" * 10, "SITE_NAME must be a name with a letter and at most 40 characters."),
        ("SECURITY_CONTACT", "hidden", "SECURITY_CONTACT must be a mail address, or a URL that begins with https://."),
        ("SECURITY_CONTACT", "http://hidden.example", "or a URL that begins with https://."),
        ("IMPRINT_TEXT", "imprint.txt", "IMPRINT_TEXT must be an absolute path."),
        ("PRIVACY_TEXT", "/nowhere", "the file of PRIVACY_TEXT cannot be read: No such file or directory."),
        ("CONTACT_TEXT", "/dev/null", "the file of CONTACT_TEXT is empty."),
        ("OIDC_ISSUER", "http://login.example.org", "Only a provider on this machine may have http."),
        ("OIDC_ISSUER", "login.example.org", "OIDC_ISSUER must be a URL like https://login.example.org, without user,"),
        ("OIDC_ISSUER", "https://u:hidden@login.example.org", "OIDC_ISSUER must be a URL like"),
        ("OIDC_ISSUER", "https://login.example.org;img-src", "OIDC_ISSUER must be a URL like"),
        ("OIDC_ISSUER", "https://login.example.org:x", "OIDC_ISSUER must be a URL like"),
        ("OIDC_ISSUER", "https://login.example.org?a=b", "without user, password, ? and #, and at most 200"),
        ("OIDC_ISSUER", f"https://login.example.org/{'x' * 200}", "and at most 200 characters long."),
        ("OIDC_ISSUER", "https://login.example.org", "OIDC_CLIENT_ID is not set. Logging in with an OpenID provider"),
        ("OIDC_CLIENT_ID", "no-mercy", "OIDC_ISSUER is not set. Logging in with an OpenID provider needs OIDC_ISSUER,"),
        ("OIDC_CLIENT_SECRET", "hidden", "OIDC_ISSUER is not set."),
        ("OIDC_CLIENT_SECRET_FILE", "/nowhere", "the file of OIDC_CLIENT_SECRET_FILE cannot be read: No such file"),
        ("OIDC_NAME", "The Village", "OIDC_ISSUER is not set."),
        ("OIDC_NAME", "x" * 41, "OIDC_NAME must be a name with a letter and at most 40 characters."),
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
        ("SITE_NAME", "Die Kartenstube, Köln"),
        ("SECURITY_CONTACT", "https://example.org/security"),
        ("SECURITY_CONTACT", "security@example.org"),
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


def test_debug_is_allowed_on_this_machine() -> None:
    assert read_settings(DEBUG="1", SITE_URL="http://[::1]:8000")["DEBUG"] is True


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"DEBUG": "1", "SITE_URL": "https://cards.example.org"}, DEBUG_ELSEWHERE),
        ({"HSTS_SUBDOMAINS": "1"}, "HSTS_SUBDOMAINS and HSTS_PRELOAD need a SITE_URL that begins with https."),
        ({"HSTS_PRELOAD": "1", "SITE_URL": "https://cards.example.org"}, "HSTS_PRELOAD needs HSTS_SUBDOMAINS=1."),
        ({"REGISTRATION": "closed"}, CLOSED_WITH_GUESTS),
        ({"REGISTRATION": "closed", "GUESTS": "1", "LOGIN_REQUIRED": "1"}, CLOSED_WITH_GUESTS),
        ({"LOGIN_REQUIRED": "1"}, VISITORS_WITH_GUESTS),
        ({"INVITATIONS": "members"}, MEMBERS_INVITE_NOBODY),
        ({"INVITATIONS": "members", "REGISTRATION": "open"}, MEMBERS_INVITE_NOBODY),
    ],
    ids=str,
)
def test_settings_that_contradict_others_stop_the_start(variables: dict[str, str], sentence: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        read_settings(**variables)
    assert str(stopped.value) == f"No Mercy does not start: {sentence}"


@pytest.mark.parametrize(("chosen", "header"), [("0", (False, False)), ("1", (True, True))])
def test_subdomains_and_preload_are_chosen(chosen: str, header: tuple[bool, bool]) -> None:
    settings = read_settings(SITE_URL="https://cards.example.org", HSTS_SUBDOMAINS=chosen, HSTS_PRELOAD=chosen)
    assert settings["SECURE_HSTS_SECONDS"] == 31_536_000
    assert (settings["SECURE_HSTS_INCLUDE_SUBDOMAINS"], settings["SECURE_HSTS_PRELOAD"]) == header


def test_the_embedded_database_needs_no_secret_key() -> None:
    assert len(read_settings(SECRET_KEY="")["SECRET_KEY"]) >= 32


PROVIDER = {"OIDC_CLIENT_ID": "no-mercy", "OIDC_CLIENT_SECRET": "a secret"}


@pytest.mark.parametrize(
    ("issuer", "name"),
    [
        ("https://Login.example.org/realms/Village/", "login.example.org"),
        ("https://login.example.org:8443", "login.example.org"),
        ("http://127.0.0.1:9000/", "127.0.0.1"),
        ("http://localhost", "localhost"),
    ],
)
def test_an_openid_provider_has_the_name_of_its_host_and_changes_no_policy(issuer: str, name: str) -> None:
    plain, given = read_settings(), read_settings(OIDC_ISSUER=issuer, **PROVIDER)
    assert (given["OIDC_ISSUER"], given["OIDC_NAME"]) == (issuer, name)
    assert given["CONTENT_SECURITY_POLICY"] == plain["CONTENT_SECURITY_POLICY"]
    assert plain["OIDC_NAME"] == plain["OIDC_ISSUER"] == ""


@pytest.mark.parametrize("missing", ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"])
def test_an_openid_provider_needs_all_of_its_settings(missing: str) -> None:
    given = {"OIDC_ISSUER": "https://login.example.org", **PROVIDER, "OIDC_NAME": "Village", missing: ""}
    with pytest.raises(SystemExit, match=f"{missing} is not set"):
        read_settings(**given)


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


@pytest.mark.long
@pytest.mark.parametrize("module", ["gunicorn --config gunicorn.conf.py", "nomercy.launcher.embedded"])
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
    with patch.dict(os.environ, {"SECRET_KEY": "k" * 40, "NOMERCY_ENV_FILE": "", **variables}, clear=True):
        return runpy.run_path(str(CHECKOUT / "nomercy" / "settings.py"))


def test_a_name_of_the_site_is_that_of_the_sender() -> None:
    read = read_settings(
        SITE_NAME="Cards, Inc", SITE_URL="https://cards.example.org", SECURITY_CONTACT="us@example.org"
    )

    assert read["DEFAULT_FROM_EMAIL"] == '"Cards, Inc" <no-reply@cards.example.org>'
    assert read["SECURITY_CONTACT"] == "mailto:us@example.org"


def test_a_text_of_the_operator_is_a_short_file_in_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "imprint.txt"
    for content, sentence in ((b"\xff", "is not a text in UTF-8"), (b"a" * 100_001, "is longer"), (b"a\0b", "a NUL")):
        file.write_bytes(content)
        with pytest.raises(SystemExit, match=sentence):
            read_settings(IMPRINT_TEXT=str(file))
    file.write_text("\ufeffStraße 1\n")
    assert read_settings(IMPRINT_TEXT=str(file))["IMPRINT_TEXT"] == "Straße 1"


def test_access_goes_together() -> None:
    for given in ({"GUESTS": "0"}, {"REGISTRATION": "closed", "GUESTS": "0", "LOGIN_REQUIRED": "1"}):
        assert read_settings(**given)["GUESTS"] is False
    assert read_settings()["GUESTS"] is True
