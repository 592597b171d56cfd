"""The environment file and files of secrets: who wins, and one sentence for each fault, without a value."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from nomercy import environment_file, settings
from nomercy.checks import Environment
from nomercy.launcher.place import CHECKOUT

KEY = "k" * 40
URL = "postgres://u:hidden@host/name"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Empty the environment, and let `local.env` be in `tmp_path`."""
    monkeypatch.setattr(environment_file, "DEFAULT", tmp_path / "local.env")
    with patch.dict(os.environ, {}, clear=True):
        yield


def write(path: Path, text: str | bytes, mode: int = 0o600) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return str(path)


def refusal() -> str:
    """Return the sentence with which the settings refuse to be read."""
    with pytest.raises(SystemExit) as stopped:
        Environment().text("SECRET_KEY")
    said = str(stopped.value)
    assert said.startswith("No Mercy does not start: ")
    assert "\n" not in said
    assert "hidden" not in said
    return said.removeprefix("No Mercy does not start: ")


def test_the_format_is_plain_lines(tmp_path: Path) -> None:
    write(
        tmp_path / "local.env",
        "\ufeff# a comment\r\n\nexport SITE_URL='https://cards.example.org'  # and another\n"
        'EMAIL_FROM="No Mercy <no-reply@example.org>"\nSECRET_KEY=$(date)$HOME#`x`\nALLOWED_HOSTS=\n',
    )

    environment = Environment()

    names = ("SITE_URL", "EMAIL_FROM", "SECRET_KEY", "ALLOWED_HOSTS")
    assert [environment.text(name) for name in names] == [
        "https://cards.example.org",
        "No Mercy <no-reply@example.org>",
        "$(date)$HOME#`x`",
        "",
    ]


def test_the_environment_wins(tmp_path: Path) -> None:
    write(tmp_path / "local.env", f"PORT=8001\nLOG_LEVEL=DEBUG\nSECRET_KEY_FILE=/hidden\nDATABASE_URL={URL}\n")
    os.environ |= {"PORT": "8002", "SECRET_KEY": KEY, "DATABASE_URL_FILE": write(tmp_path / "url", f"{URL}2\n")}

    environment = Environment()

    assert environment.text("PORT") == "8002"
    assert environment.text("LOG_LEVEL") == "DEBUG"
    assert environment.text("SECRET_KEY") == KEY
    assert environment.text("DATABASE_URL") == f"{URL}2"


def test_an_empty_value_in_the_environment_wins_too(tmp_path: Path) -> None:
    write(tmp_path / "local.env", f"DATABASE_URL={URL}\n")
    os.environ["DATABASE_URL"] = ""
    assert Environment().text("DATABASE_URL") == ""


def test_a_named_file_is_read_instead_and_an_empty_name_reads_none(tmp_path: Path) -> None:
    write(tmp_path / "local.env", "PORT=8001\n")
    os.environ["NOMERCY_ENV_FILE"] = write(tmp_path / "site.env", "HOST=::1\n")
    environment = Environment()
    assert (environment.text("HOST"), environment.text("PORT", "8000")) == ("::1", "8000")

    del os.environ["HOST"]
    Environment()  # later ones of this process, and its children, read nothing
    assert "HOST" not in os.environ


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("PORT=8000\nhidden\n", "{file}, line 2, is not NAME=value."),
        ("PORT='hidden\n", "{file}, line 1, has a quote that is not closed in that line."),
        (
            '\nHOST=x\nEMAIL_FROM="hidden\nPORT=1\nSITE_URL=hidden"\n',
            "{file}, line 3, has a quote that is not closed in",
        ),
        ('EMAIL_FROM="hidden\\"\nPORT="1"\n', "{file}, line 1, has a quote that is not closed in that line."),
        ("PORT=1\n\nHOST=x\nPORT=1 # hidden\n", "{file}, line 4, sets PORT, which line 1 has set already."),
        ("SITE_ULR=hidden\n", "sets SITE_ULR, which is not a setting; the closest one is SITE_URL."),
        ("site_url=hidden\n", "{file}, line 1, sets site_url, which is not a setting; the closest one is SITE_URL."),
        ("BACKUP_PASSPHRASE_FLIE=hidden", "which is not a setting; the closest one is BACKUP_PASSPHRASE_FILE."),
        ("hidden99=\n", "{file}, line 1, sets something that is not a setting; docs/settings.md lists all."),
        ("BACKUP_PASSPHRASE=hidden horse #7\n", "{file}, line 1, has a comment after a value without quotes; put the"),
        ("MY-PORT=hidden\n", "{file}, line 1, is not NAME=value."),
        ("\n\n=hidden\n", "{file}, line 3, is not NAME=value."),
        ("PORT=hid\0den\n", "{file}, line 1, is not NAME=value."),
        (b"PORT=\xffhidden", "{file} is not a text in UTF-8."),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    file = write(tmp_path / "local.env", text)
    assert sentence.format(file=file) in refusal()
    assert "PORT" not in os.environ


def test_every_setting_is_known_in_the_file() -> None:
    assert set(settings.environment.names) == environment_file.SETTINGS


def test_variables_of_postgresql_may_be_in_the_file(tmp_path: Path) -> None:
    write(tmp_path / "local.env", "PGPASSWORD='it\\'s'\nSECRET_KEY_FILE=/hidden\n")
    Environment()
    assert os.environ["PGPASSWORD"] == "it's"


def test_a_named_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    os.environ["NOMERCY_ENV_FILE"] = str(tmp_path / "site.env")
    assert refusal() == f"{tmp_path}/site.env cannot be read: No such file or directory."
    os.environ["NOMERCY_ENV_FILE"] = "site.env"
    assert refusal() == "NOMERCY_ENV_FILE must be an absolute path."


@pytest.mark.parametrize(
    ("line", "mode", "warned"),
    [(f"SECRET_KEY={KEY}", 0o644, True), (f"SECRET_KEY={KEY}", 0o640, False), ("PORT=8000", 0o644, False)],
)
def test_a_file_of_secrets_that_everybody_can_read_is_warned_about(
    tmp_path: Path, line: str, mode: int, warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "local.env", line, mode)

    Environment()
    Environment()

    assert capsys.readouterr().err == (
        f"{file} has secrets, and every user of this machine can read it. Run: chmod o-r {file}\n" if warned else ""
    )


def test_a_secret_comes_from_its_file(tmp_path: Path) -> None:
    os.environ["SECRET_KEY_FILE"] = write(tmp_path / "key", f"{KEY}\n")
    os.environ["SECRET_KEY_FALLBACKS_FILE"] = write(tmp_path / "old", f"{KEY}1,{KEY}2\r\n")
    os.environ["DATABASE_URL_FILE"] = write(tmp_path / "database", URL)
    os.environ["REDIS_URL_FILE"] = write(tmp_path / "redis", "redis://:hidden@host:6379/0\n")
    os.environ["EMAIL_URL_FILE"] = write(tmp_path / "mail", "smtp://u:hidden@host\n")

    environment = Environment()

    assert environment.text("SECRET_KEY") == KEY
    assert environment.text("SECRET_KEY_FALLBACKS") == f"{KEY}1,{KEY}2"
    assert environment.database("DATABASE_URL")["PASSWORD"] == "hidden"
    assert environment.redis("REDIS_URL") == "redis://:hidden@host:6379/0"
    assert environment.text("EMAIL_URL") == "smtp://u:hidden@host"
    assert "SECRET_KEY" not in os.environ  # a child reads the file itself


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\n", "the file of SECRET_KEY_FILE is empty."),
        ("hidden\nhidden", "the file of SECRET_KEY_FILE must have one line."),
        (b"\xffhidden", "the file of SECRET_KEY_FILE is not a text in UTF-8."),
        (None, "the file of SECRET_KEY_FILE cannot be read: No such file or directory."),
    ],
)
def test_an_unusable_file_of_a_secret_is_refused(tmp_path: Path, text: str | bytes | None, sentence: str) -> None:
    path = tmp_path / "key"
    os.environ["SECRET_KEY_FILE"] = str(path) if text is None else write(path, text)
    assert refusal() == sentence


def test_a_secret_is_set_in_one_way_only() -> None:
    os.environ |= {"SECRET_KEY": "hidden", "SECRET_KEY_FILE": "/hidden"}
    assert refusal() == "SECRET_KEY and SECRET_KEY_FILE are both set; set one of them."
    os.environ |= {"SECRET_KEY": "", "SECRET_KEY_FILE": "hidden"}
    assert refusal() == "SECRET_KEY_FILE must be an absolute path."


def test_both_ways_in_one_file_are_refused_unless_the_environment_has_one(tmp_path: Path) -> None:
    write(tmp_path / "local.env", "SECRET_KEY=hidden\nSECRET_KEY_FILE=/hidden\n")
    os.environ["NOMERCY_ENV_FILE"] = str(tmp_path / "local.env")
    os.environ["SECRET_KEY"] = KEY
    assert Environment().text("SECRET_KEY") == KEY
    del os.environ["SECRET_KEY"]
    os.environ["NOMERCY_ENV_FILE"] = str(tmp_path / "local.env")
    assert refusal() == "SECRET_KEY and SECRET_KEY_FILE are both set; set one of them."


COMMANDS = {
    "manage.py": ("manage.py", "migrate"),
    "script/run": ("-m", "nomercy.launcher.embedded"),
    "script/stack": ("-m", "script.stack"),
    "script/serve web": ("-m", "gunicorn", "--config", "gunicorn.conf.py"),
    "script/serve ws": ("-m", "uvicorn", "--factory", "nomercy.asgi:sockets"),
    "celery worker": ("-m", "celery", "-A", "nomercy", "worker"),
    "celery beat": ("-m", "celery", "-A", "nomercy", "beat"),
}
SITE = f"SECRET_KEY={KEY}\nDATABASE_URL={URL}\n"
WRONG_URL, NO_DATABASE, NO_REDIS = "SITE_URL must be the URL", "DATABASE_URL is not set.", "REDIS_URL is not set."


def stopped(command: str, *options: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run one of the commands to its end with nothing else in the environment."""
    return subprocess.run(
        [sys.executable, *COMMANDS[command], *options],
        cwd=CHECKOUT, env={"PATH": os.defpath, **given}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


# Without the file, Celery's processes would miss DATABASE_URL first.
@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        *((name, f"{SITE}SITE_URL=cards\n", WRONG_URL) for name in ("manage.py", "script/run", "script/stack")),
        *((name, f"SECRET_KEY={KEY}\n", NO_DATABASE) for name in COMMANDS if name.startswith("script/serve")),
        *((name, SITE, NO_REDIS) for name in ("celery beat",)),
    ],
)
def test_every_process_reads_the_file_and_ends_without_a_service_of_its_site(
    tmp_path: Path, command: str, text: str, said: str
) -> None:
    ended = stopped(command, NOMERCY_ENV_FILE=write(tmp_path / "site.env", text))

    assert ended.returncode != 0
    # Gunicorn says more afterwards, and beat has redirected its output to the log by then.
    assert f"No Mercy does not start: {said}" in ended.stderr
    assert "hidden" not in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stderr.count("\n") == 1 or command.startswith(("script/serve", "celery"))


@pytest.mark.long
def test_a_worker_for_a_queue_that_does_not_exist_ends_with_one_sentence(tmp_path: Path) -> None:
    file = write(tmp_path / "site.env", f"{SITE}REDIS_URL=redis://127.0.0.1:1/0\n")

    ended = stopped("celery worker", "--queues", "work,mial", NOMERCY_ENV_FILE=file)

    said = "No Mercy does not start: there is no queue 'mial'. The queues are clock, work, mail.\n"
    assert (ended.returncode, ended.stderr) == (1, said)  # also as root, of which Celery would warn in six lines
