"""A backup has everything and nothing else, and a restore changes nothing unless it succeeds.

The tests share one filled database, and a plain and an encrypted backup of it.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pyrage
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DataError, connection
from django.utils import timezone
from dotenv import dotenv_values
from pytest_django import DjangoDbBlocker

from accounts.models import User
from games import randomness
from games.models import Game
from mail.models import Outbox
from nomercy.backup import archive, files, manifest, postgresql
from nomercy.backup.command import one_sentence
from nomercy.launcher.place import CHECKOUT, place_for
from nomercy.launcher.postgres import running
from nomercy.launcher.programs import system
from tests.conftest import Figure, person
from tests.faults.test_restore import a_game_in_play
from tests.nomercy.conftest import remove
from tests.nomercy.test_upgrade import every_row
from tests.support.database import database_at, empty_database, migrated_database, using_database
from tests.support.pages import open_table
from tests.support.stack import database_url
from tests.support.waiting import until

PASSPHRASE = "correct horse battery"
CHANGED_BY_RESTORE = {"games_game", "games_heartbeat", "games_tableevent", "mail_delivery", "mail_outbox"}
KEPT = {"SITE_URL": "https://uno.example", "SECRET_KEY": "k" * 50}


@dataclass(frozen=True)
class Site:
    """A plain and an encrypted backup of the shared database, and its rows."""

    plain: Path
    encrypted: Path
    rows: dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def passphrase(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The option with the file of the passphrase."""
    path = tmp_path_factory.mktemp("passphrase") / "passphrase"
    path.write_text(f"{PASSPHRASE}\n")
    return f"--passphrase-file={path}"


@pytest.fixture(scope="module")
def site(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    passphrase: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """Use a database with two games. Each test leaves it as it was."""
    folder = tmp_path_factory.mktemp("backups")
    with django_db_blocker.unblock(), migrated_database("site"):
        fill()
        plain = back_up(folder / "plain.backup")
        yield Site(plain, back_up(folder / "encrypted.backup", passphrase), every_row())


def fill() -> None:
    """Make two people with two games."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(randomness, "source", random.Random(1))
        people = [person("alice"), person("bob")]
        for moves in (0, 5):
            a_game_in_play(people, moves, timezone.now(), players=2)


def back_up(file: Path, *options: str) -> Path:
    call_command("backup", str(file), *options)
    # PostgreSQL notices a moment later that pg_dump has ended, and a restore wants the database for itself.
    until("pg_dump has gone", lambda: postgresql.other_connections() == 0)
    return file


def refusal(*arguments: str) -> str:
    """Return the sentence with which a restore is refused. Assert that it changed nothing."""
    before = every_row()
    with pytest.raises(CommandError) as refused:
        call_command("restore", *arguments)
    assert every_row() == before
    return str(refused.value)


def rewritten(site: Site, file: Path, dump: list[str] | None = None, **changes: Any) -> Path:
    """Make a backup with another manifest, or another dump: what this command prints."""
    key = archive.key_of(site.plain, "")
    with archive.decrypted(site.plain, archive.SETTINGS, key) as part:
        described = json.loads(part.read()) | changes
    with (
        archive.decrypted(site.plain, archive.DUMP, key) as part,
        subprocess.Popen(dump or ["cat"], stdin=part, stdout=subprocess.PIPE) as process,
        file.open("wb") as target,
    ):
        archive.write(target, json.dumps(described).encode(), process, "", timezone.now())
    return file


@contextmanager
def changed(*statements: str) -> Iterator[None]:
    """Run statements in the shared database, and take them back after the block by the last one."""
    *first, last = statements
    with connection.cursor() as cursor:
        for statement in first:
            cursor.execute(statement)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(last)


@contextmanager
def database_of_a_plain_role(rights: str) -> Iterator[None]:
    """Use an empty database as a role that has these rights in its schema, and may create no databases."""
    with empty_database("restored"):
        with connection.cursor() as cursor:
            cursor.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC; DROP ROLE IF EXISTS plain")
            cursor.execute(f"CREATE ROLE plain LOGIN PASSWORD 'plain'; GRANT {rights} ON SCHEMA public TO plain")
        try:
            with using_database(USER="plain", PASSWORD="plain"):
                yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("DROP OWNED BY plain; DROP ROLE plain")


@pytest.mark.long
def test_everything_comes_back_frozen_where_the_role_may_create_no_database(site: Site, passphrase: str) -> None:
    with database_of_a_plain_role("USAGE, CREATE"):
        call_command("restore", str(site.encrypted), passphrase)

        after = every_row()
        assert {name for name in site.rows if site.rows[name] != after[name]} <= CHANGED_BY_RESTORE
        assert len(after["games_move"]) == len(site.rows["games_move"]) > 0
        assert [game.paused_reasons for game in Game.objects.all()] == [[Game.PAUSED_BY_RESTORE]] * 2
        assert Outbox.objects.get().held_since is not None
        call_command("freeze", if_restored=True)
        call_command("release")
        call_command("freeze", if_restored=True)  # as the next start does
        assert [game.paused_reasons for game in Game.objects.all()] == [[], []]
        call_command("check_games")
        User.objects.create_user("new")  # sequences continue
        assert User.objects.get(username="new").pk > max(row["id"] for row in site.rows["accounts_user"])


@pytest.mark.long
@pytest.mark.postgresql
def test_a_site_moves_to_a_newer_major_version_and_not_to_an_older_one(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = postgresql.major_version()
    older = system()[0].major
    if older >= newer:
        pytest.skip("the system's PostgreSQL is not older than that of the tests")
    monkeypatch.setenv("POSTGRES", "system")
    place = place_for(tmp_path / "older")
    if not place.user:
        place.base.parent.mkdir(parents=True)
    try:
        with running(place), database_at(place):
            call_command("migrate", verbosity=0)
            assert refusal(str(site.plain)) == (
                f"The backup was made with PostgreSQL {newer}, and the database server here is PostgreSQL {older}."
                f" Restore it into PostgreSQL {newer} or newer. Nothing was changed."
            )
            fill()
            before = every_row()
            file = back_up(tmp_path / "site.backup")
    finally:
        remove(place)
    with empty_database("restored"):
        call_command("restore", str(file))
        after = every_row()
        assert {name for name in before if before[name] != after[name]} <= CHANGED_BY_RESTORE
        call_command("release")
        call_command("check_games")


@pytest.mark.long
def test_tar_and_age_read_a_backup_of_which_only_the_passphrase_shows_anything(site: Site) -> None:
    hidden = site.encrypted.read_bytes()
    assert stat.S_IMODE(site.encrypted.stat().st_mode) == 0o600
    assert settings.SECRET_KEY.encode() not in hidden
    assert b"accounts_user" not in hidden
    with tarfile.open(site.encrypted) as tar:
        parts = {entry.name: tar.extractfile(entry) for entry in tar}
    assert list(parts) == ["key.age", "settings.age", "dump.age"]
    with tarfile.open(site.encrypted) as tar:
        key, described, dump = (tar.extractfile(name).read() for name in parts)  # type: ignore[union-attr]
    identity = pyrage.x25519.Identity.from_str(pyrage.passphrase.decrypt(key, PASSPHRASE).decode().strip())
    assert json.loads(pyrage.decrypt(described, [identity]))["settings"]["SECRET_KEY"] == settings.SECRET_KEY
    assert pyrage.decrypt(dump, [identity]).startswith(b"PGDMP")
    with tarfile.open(site.plain) as tar:
        assert tar.getnames() == ["key.txt", "settings.age", "dump.age"]


@pytest.mark.long
def test_the_passphrase_comes_from_the_environment(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKUP_PASSPHRASE", PASSPHRASE)
    file = back_up(tmp_path / "site.backup")
    assert archive.is_encrypted(file)
    assert list(tmp_path.iterdir()) == [file]
    call_command("verify_backup", str(file))


@pytest.mark.parametrize(("text", "said"), [("short\n", "at least 12 characters"), ("\n", "has no passphrase")])
def test_a_bad_passphrase_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "passphrase"
    path.write_text(text)
    with pytest.raises(CommandError, match=said):
        call_command("backup", str(tmp_path / "site.backup"), f"--passphrase-file={path}")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.long
def test_nobody_to_ask_for_a_passphrase(site: Site, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Give the passphrase by --passphrase-file"):
        call_command("backup", str(tmp_path / "site.backup"), encrypt=True)
    assert refusal(str(site.encrypted)).startswith("Give the passphrase by --passphrase-file")


@pytest.mark.long
def test_a_wrong_passphrase_is_refused(site: Site, tmp_path: Path) -> None:
    wrong = tmp_path / "passphrase"
    wrong.write_text("not the right one\n")
    assert refusal(str(site.encrypted), f"--passphrase-file={wrong}", "--replace") == (
        "The passphrase is wrong, or else the beginning of the file is damaged. Nothing was changed."
    )


@pytest.mark.long
@pytest.mark.parametrize("encrypted", [False, True])
def test_a_file_that_is_cut_off_or_damaged_is_refused(
    site: Site, passphrase: str, encrypted: bool, tmp_path: Path
) -> None:
    whole, file = (site.encrypted if encrypted else site.plain).read_bytes(), tmp_path / "site.backup"
    options = [passphrase] if encrypted else []
    with tarfile.open(site.encrypted if encrypted else site.plain) as tar:
        key, described, dump = tar.getmembers()
    before = every_row()
    end = dump.offset_data + dump.size
    cut = [whole[:at] for at in (described.offset, described.offset_data + 9, dump.offset, end - 20, end - 1)]
    flipped = [
        whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        for at in (key.offset_data + key.size - 5, described.offset_data + 250, dump.offset_data + 500, end - 1)
    ]
    for damaged in (*cut, *flipped):
        file.write_bytes(damaged)
        with pytest.raises(CommandError, match=r"damaged.* Nothing was changed"):
            call_command("restore", str(file), *options, replace=True)
    assert every_row() == before


@pytest.mark.long
def test_other_files_are_refused(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "site.backup"
    assert refusal(str(file)) == f"{file}: No such file or directory. Nothing was changed."
    for text in ("", "PGDMP"):
        file.write_text(text)
        assert refusal(str(file)) == f"{file} is not a backup of No Mercy. Nothing was changed."
    with tarfile.open(file, "w") as tar:
        tar.add(__file__, "manifest.json")
    assert refusal(str(file)) == f"{file} is not a backup of No Mercy. Nothing was changed."
    with tarfile.open(file, "w") as tar:
        tar.add(tmp_path, "key.txt")
    assert refusal(str(file)) == "The file is damaged or cut off. Nothing was changed."


@pytest.mark.parametrize("start", [b"\x1f\x8b\x08\x00", b"nomercy backup, encrypted, format 2\n"])
def test_a_backup_of_f8c9a292_is_refused_with_the_code_that_reads_it(site: Site, tmp_path: Path, start: bytes) -> None:
    file = tmp_path / "site.backup"
    file.write_bytes(start + bytes(1000))
    said = refusal(str(file))
    assert "that code reads it: restore it there (git checkout f8c9a292), and then start this release" in said


@pytest.mark.parametrize(
    "change",
    [
        {"tables": "5"},
        {"postgresql": None},
        {"more": 1},
        {"version": "0.1.0\x1b[2K\rother.backup is whole and encrypted"},
        {"site_url": "https://good.example\x9b2K"},
        {"site_url": "\ud800"},
        {"created": "yesterday"},
        {"settings": []},
        {"settings": KEPT | {"LD_PRELOAD": "x.so"}},
        {"settings": KEPT | {"EMAIL_FROM": ["a"]}},
        {"settings": {"SITE_URL": "https://uno.example"}},
        {"settings": KEPT | {"EMAIL_FROM": "a'\\\nLD_PRELOAD=x.so\r\n'\""}},
        {"settings": KEPT | {"EMAIL_FROM": "\ud800"}},
        {"settings": KEPT | {"EMAIL_FROM": "a\0b"}},
    ],
    ids=ascii,
)
def test_a_manifest_of_somebody_else_is_damage(change: dict[str, Any]) -> None:
    sound = manifest.Manifest("0.1.0", timezone.now().isoformat(), "https://uno.example", 18, 60, KEPT)
    assert manifest.read(sound.as_json()) == sound
    with pytest.raises(archive.BackupError, match="damaged"):
        manifest.read(json.dumps(json.loads(sound.as_json()) | change).encode())
    with pytest.raises(archive.BackupError, match="damaged"):
        manifest.read(b"[" * 100_000)


def test_what_the_database_says_of_a_value_shows_no_control_characters() -> None:
    with pytest.raises(CommandError, match=r'syntax: "\?\[2J"\.$'), one_sentence(""):
        raise DataError('invalid input syntax: "\x1b[2J"\nCONTEXT: COPY')


@pytest.mark.long
def test_a_backup_of_newer_code_is_refused(site: Site, tmp_path: Path) -> None:
    later = "INSERT INTO django_migrations (app, name, applied) VALUES ('games', '9999_later', now())"
    with changed(later, "DELETE FROM django_migrations WHERE name = '9999_later'"):
        file = back_up(tmp_path / "newer.backup")
    assert refusal(str(file), "--replace").startswith(
        "The backup was made by newer code (release 0.1.0) than the code here (release 0.1.0), which does not have the"
        " migration games.9999_later."
    )


def test_a_backup_of_another_site_needs_a_flag(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_URL", settings.SITE_URL)
    other = rewritten(site, tmp_path / "other.backup", site_url="https://other.example.org")
    assert refusal(str(other), "--replace").startswith("The backup is of the site https://other.example.org, and")
    assert refusal(str(other), "--other-site").startswith("The database has accounts or games. Restore into an empty")


def test_a_running_site_is_noticed(site: Site) -> None:
    with psycopg.connect(database_url()):
        assert refusal(str(site.plain), "--replace").startswith("The database is in use by 1 other connection. Stop ev")


def test_a_failure_in_the_middle_changes_nothing(site: Site, tmp_path: Path) -> None:
    """The old tables are dropped by then, and some of the new ones are filled."""
    half = rewritten(site, tmp_path / "half.backup", dump=["head", "-c", str(site.plain.stat().st_size - 20_000)])
    said = refusal(str(half), "--replace")
    assert said.startswith("pg_restore failed: could not read from input file: end of file.")
    assert said.endswith(" Nothing was changed.")


def test_a_dump_that_fails_makes_no_backup(site: Site, tmp_path: Path) -> None:
    with (
        changed(
            "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN PASSWORD 'reader'",
            "GRANT USAGE ON SCHEMA public TO reader; GRANT SELECT ON django_migrations TO reader",
            "DROP OWNED BY reader; DROP ROLE reader",
        ),
        using_database(USER="reader", PASSWORD="reader"),
        pytest.raises(CommandError) as refused,
    ):
        back_up(tmp_path / "site.backup")
    assert str(refused.value).startswith("pg_dump failed: query failed: ERROR:  permission denied for table ")
    assert str(refused.value).endswith(". No backup was made.")
    assert list(tmp_path.iterdir()) == []


def test_programs_of_another_version_are_not_used(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "DEBIAN", tmp_path)
    monkeypatch.setattr(postgresql, "wheel", lambda: None)
    other = tmp_path / "pg_dump"
    other.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6'\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    major = postgresql.major_version()
    with pytest.raises(CommandError) as refused:
        back_up(tmp_path / "site.backup")
    assert str(refused.value) == (
        f"The database server is PostgreSQL {major}, and there is no pg_dump of that version here. Install it (on"
        f" Debian: apt-get install postgresql-client-{major}). No backup was made."
    )


@pytest.mark.long
def test_a_database_without_rights_is_refused_with_the_cause(site: Site) -> None:
    with database_of_a_plain_role("USAGE"), pytest.raises(CommandError) as refused:
        call_command("restore", str(site.plain))
    assert str(refused.value) == "The database failed: permission denied for schema public. Nothing was changed."


def test_no_file_is_overwritten(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "site.backup"
    file.write_text("precious")
    with pytest.raises(CommandError, match=r"exists already\. Choose another name\. No backup was made\."):
        back_up(file)
    assert file.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing/site.backup", "{}: No such file or directory. No backup was made."),
        ("", "The name of the new file is"),
    ],
)
def test_a_name_that_cannot_be_used_is_a_sentence(site: Site, tmp_path: Path, name: str, said: str) -> None:
    there = str(tmp_path / name) if name else ""
    with pytest.raises(CommandError) as refused:
        call_command("backup", there)
    assert str(refused.value).startswith(said.format(there))


@pytest.mark.parametrize("room", [0, 3000, 20_000])
def test_a_full_disk_is_a_sentence_and_leaves_no_file(site: Site, tmp_path: Path, room: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = tmp_path / "site.backup"
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(CommandError) as refused:
            back_up(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(refused.value) == f"{file}: File too large. No backup was made."
    assert list(tmp_path.iterdir()) == []


def test_the_next_backup_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    names = ("left", "running", "link", "folder")
    left, still_written, link, folder = (tmp_path / f"{files.PREFIX}{name}" for name in names)
    for path in (left, still_written):
        path.touch()
    link.symlink_to(left)
    folder.mkdir()
    long_ago = (timezone.now() - timedelta(hours=2)).timestamp()
    for path in (left, link, folder):
        os.utime(path, (long_ago, long_ago), follow_symlinks=False)
    with files.new_file(tmp_path / "new"):
        pass
    assert sorted(tmp_path.iterdir()) == sorted([still_written, link, folder, tmp_path / "new"])


@pytest.mark.long
def test_a_backup_that_waits_for_a_lock_can_be_stopped(site: Site, tmp_path: Path) -> None:
    waits = "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'pg_dump' AND wait_event_type = 'Lock'"

    def stop() -> None:
        with psycopg.connect(database_url(), autocommit=True) as server:
            until("pg_dump waits", lambda: server.execute(waits).fetchone() == (True,))
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    stopping = threading.Thread(target=stop)
    try:
        with psycopg.connect(database_url()) as other:
            other.execute("LOCK TABLE games_move")
            stopping.start()
            with pytest.raises(CommandError, match=r"^Stopped\. No backup was made\.$") as stopped:
                back_up(tmp_path / "site.backup")
            assert stopped.value.returncode == 130
    finally:
        stopping.join()
        signal.signal(signal.SIGINT, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_accounts_and_games_are_deleted_only_if_told_so_and_tables_of_others_are_left_out(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "site.backup"
    with migrated_database("restored"):
        User.objects.create_user("only")
        with connection.cursor() as cursor:
            cursor.execute('CREATE TABLE "My ""own" (n serial)')
            cursor.execute('INSERT INTO "My ""own" DEFAULT VALUES; CREATE VIEW more AS SELECT n FROM "My ""own"')
        back_up(file)
        assert 'Left out, because they are not tables of the site: My "own.\n' in capsys.readouterr().err
        User.objects.create_user("later")
        assert refusal(str(file)).startswith("The database has accounts or games. Restore into an empty one")
        call_command("restore", str(file), replace=True)
        assert list(User.objects.values_list("username", flat=True)) == ["only"]
        with connection.cursor() as cursor:
            cursor.execute("SELECT n FROM more")
            assert cursor.fetchall() == [(1,)]


def test_a_backup_of_an_empty_database_is_refused(site: Site, tmp_path: Path) -> None:
    with empty_database("nothing"), pytest.raises(CommandError, match="has no site in it"):
        back_up(tmp_path / "site.backup")


@pytest.mark.long
def test_the_settings_can_be_read_back(
    site: Site, passphrase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EMAIL_FROM", "It's \\ me <me@example.org>")
    file, written = back_up(tmp_path / "site.backup", passphrase), tmp_path / "local.env"

    call_command("verify_backup", str(file), passphrase, write_settings=written)

    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert dotenv_values(written, interpolate=False) == {
        "SECRET_KEY": settings.SECRET_KEY,
        "RATE_LIMITS": "0",
        "EMAIL_FROM": "It's \\ me <me@example.org>",
    }
    for said in (written.read_text(), capsys.readouterr().out):
        assert "Add BACKUP_PASSPHRASE or BACKUP_PASSPHRASE_FILE, or the next backups are not encrypted." in said
    with pytest.raises(CommandError, match=r"exists already\. Choose another name\. Nothing was written\."):
        call_command("verify_backup", str(file), passphrase, write_settings=written)


def test_a_site_url_is_kept_only_if_it_is_set(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    assert "SITE_URL" not in manifest.site_settings()
    monkeypatch.setenv("SITE_URL", settings.SITE_URL)
    assert manifest.site_settings()["SITE_URL"] == settings.SITE_URL


@pytest.mark.long
def test_another_key_is_said_and_another_port_of_this_machine_is_no_other_site(
    site: Site, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.SITE_URL = "http://127.0.0.1:8461"
    settings.SECRET_KEY = "another key, also only for tests " * 2
    with empty_database("restored"):
        call_command("restore", str(site.plain))
    said = capsys.readouterr().out
    assert "SECRET_KEY here is not that of the backup." in said
    assert "everybody is logged out, links in sent mails are invalid, and second factors cannot be read." in said
    assert "put it into SECRET_KEY_FALLBACKS" in said
    assert settings.SECRET_KEY not in said


@pytest.mark.parametrize("command", ["restore", "verify_backup"])
@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_plain_file_in_place_of_an_encrypted_one_is_refused(
    site: Site, passphrase: str, command: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "environment":
        monkeypatch.setenv("BACKUP_PASSPHRASE", PASSPHRASE)
    with pytest.raises(CommandError, match="not encrypted, so anybody could have made it"):
        call_command(command, str(site.plain), *([passphrase] if by == "option" else []))
    call_command("verify_backup", str(site.plain), passphrase, "--not-encrypted")


@pytest.mark.long
def test_a_restore_names_open_tables_that_cannot_be_read(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with empty_database("restored"):
        call_command("restore", str(site.plain))
        call_command("release")
        alice, bob = User.objects.order_by("username")
        broken, _ = open_table(alice), open_table(bob)
        Game.objects.filter(pk=broken.pk).update(preset="later")
        file = back_up(tmp_path / "site.backup")
        capsys.readouterr()
        with pytest.raises(CommandError, match=rf"^These open tables could not be read: game {broken.pk}\. ") as found:
            call_command("restore", str(file), replace=True)
        assert found.value.returncode == 1
        assert "2 games are stopped and mail is held." in capsys.readouterr().out
        assert Game.objects.filter(pk=broken.pk).exists()


HOSTILE_VALUES = {
    "plain": 'No Mercy <a@example.org> $HOME `date` "x" # !1',
    "quote": 'It\'s "me" <me@example.org>; #',
    "backslash": "a\\b\\\\n\\",
    "command": "x'; touch pwned; : '",
    "substitution": "x' $(touch pwned) `touch pwned`",
    "escape": "\\' $(touch pwned)",
    "end": "$(touch pwned)\\",
    "double": "\"; touch pwned; $(touch pwned) '\\",
}


@pytest.mark.parametrize("value", HOSTILE_VALUES.values(), ids=HOSTILE_VALUES)
def test_a_shell_runs_no_part_of_written_settings(tmp_path: Path, value: str) -> None:
    chosen, written = {"EMAIL_FROM": value, "RATE_LIMITS": "7"}, tmp_path / "new.env"
    text = manifest.as_environment_file(chosen)
    written.write_text(text)

    script = '. ./new.env; printf "%s|%s" "$EMAIL_FROM" "$RATE_LIMITS"'
    command = ["/bin/sh", "-euc", f"EMAIL_FROM=; {script}"]
    shell = subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, text=True)
    in_comment = manifest.in_comments(chosen) == ["EMAIL_FROM"]
    assert (shell.stdout, shell.stderr) == (("" if in_comment else value) + "|7", "")
    assert not (tmp_path / "pwned").exists()
    assert in_comment == (bool({"'", "\\"} & set(value)) and bool({"$", "`"} & set(value)))
    assert ("EMAIL_FROM" in dotenv_values(written, interpolate=False)) != in_comment
    written.write_text(text.replace("# EMAIL_FROM", "EMAIL_FROM"))
    assert dotenv_values(written, interpolate=False)["EMAIL_FROM"] == value


def test_the_command_says_which_settings_are_comments(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = rewritten(site, tmp_path / "site.backup", settings=KEPT | {"EMAIL_FROM": "x' $(touch pwned)"})
    call_command("verify_backup", str(hostile), f"--write-settings={tmp_path / 'new.env'}")
    assert "A shell would run a part of EMAIL_FROM, so the line is a comment." in capsys.readouterr().out


MEASURED = """
import atexit, pathlib, runpy, sys
atexit.register(lambda: print(pathlib.Path("/proc/self/status").read_text()))
runpy.run_path("manage.py", run_name="__main__")
"""


@pytest.mark.long
def test_a_backup_takes_200_megabytes_however_large_the_database_is(site: Site, tmp_path: Path, figure: Figure) -> None:
    file = tmp_path / "site.backup"
    with migrated_database("large"):
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE games_large (value text)")
            cursor.execute("INSERT INTO games_large SELECT repeat(md5(n::text), 2) FROM generate_series(1, 700000) n")
        given = {"DATABASE_URL": database_url(), "BACKUP_PASSPHRASE": PASSPHRASE}
        environment = os.environ | given | {"DJANGO_SETTINGS_MODULE": "nomercy.settings"}
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, "backup", str(file)],
            cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
    megabytes = int(done.stdout.partition("VmHWM:")[2].split()[0]) / 1024
    figure(f"{megabytes:.0f} MB for a backup of {file.stat().st_size / 1e6:.0f} MB")
    assert archive.is_encrypted(file)
    assert file.stat().st_size > 15e6
    assert megabytes < 200
