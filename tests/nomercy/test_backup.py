"""A backup has everything and nothing else, and a restore changes nothing unless it succeeds."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tarfile
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DataError, connection
from django.utils import timezone
from dotenv import dotenv_values

from accounts.models import User
from games.models import Game, Outbox
from nomercy.backup import archive, encryption, files, manifest, tables
from nomercy.backup.command import one_sentence
from nomercy.launcher.place import CHECKOUT, place_for
from nomercy.launcher.postgres import running
from tests.faults.test_restore import a_game_in_play
from tests.nomercy.conftest import remove
from tests.nomercy.test_upgrade import every_row
from tests.support.database import database_at, empty_database, migrated_database
from tests.support.pages import open_table
from tests.support.stack import database_url

pytestmark = pytest.mark.django_db(transaction=True)

PASSPHRASE = "correct horse battery"
HEADER = len(encryption.MAGIC) + encryption.SALT_BYTES + encryption.TAG_BYTES
CHANGED_BY_RESTORE = {"games_game", "games_heartbeat", "games_outbox", "games_notice", "games_tableevent"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derive keys quickly, and write small parts."""
    monkeypatch.setattr(encryption, "SCRYPT_N", 2**10)
    monkeypatch.setattr("nomercy.backup.tables.PART_BYTES", 500)


@pytest.fixture
def games(alice: User, bob: User) -> list[Game]:
    now = timezone.now()
    return [a_game_in_play([alice, bob], moves, now, players=2) for moves in (0, 5)]


@pytest.fixture
def passphrase(tmp_path: Path) -> str:
    """The option with the file of a passphrase."""
    path = tmp_path / "passphrase"
    path.write_text(f"{PASSPHRASE}\n")
    return f"--passphrase-file={path}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "site.backup"


@contextmanager
def another_database() -> Iterator[None]:
    """Use a new database with the tables of a site and nothing in it."""
    with migrated_database("restored"):
        yield


@contextmanager
def another_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use a new database of the system's PostgreSQL, which is another major version than the wheel's."""
    monkeypatch.setenv("POSTGRES", "system")
    place = place_for(folder)
    if not place.user:
        place.base.parent.mkdir(parents=True)
    with running(place), database_at(place):
        call_command("migrate", verbosity=0)
        yield
    remove(place)


def back_up(file: Path, *options: str) -> Path:
    call_command("backup", str(file), *options)
    return file


def refusal(*arguments: str) -> str:
    """Return the sentence with which a restore is refused. Assert that it changed nothing."""
    before = every_row()
    with pytest.raises(CommandError) as refused:
        call_command("restore", *arguments)
    assert every_row() == before
    return str(refused.value)


@pytest.mark.long
@pytest.mark.postgresql
@pytest.mark.parametrize("elsewhere", [False, True], ids=["", "encrypted, to another major version"])
def test_everything_comes_back_frozen(
    games: list[Game], file: Path, passphrase: str, elsewhere: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = every_row()
    options = [passphrase] if elsewhere else []
    back_up(file, *options)

    with another_server(tmp_path / "site", monkeypatch) if elsewhere else another_database():
        call_command("restore", str(file), *options)

        after = every_row()
        assert {name for name in before if before[name] != after[name]} <= CHANGED_BY_RESTORE
        assert len(after["games_move"]) == len(before["games_move"]) > 0
        assert [game.paused_reasons for game in Game.objects.all()] == [[Game.PAUSED_BY_RESTORE]] * 2
        assert Outbox.objects.get().held_since is not None
        call_command("freeze", if_restored=True)
        call_command("release")
        call_command("freeze", if_restored=True)  # as the next start does
        assert [game.paused_reasons for game in Game.objects.all()] == [[], []]
        call_command("check_games")
        User.objects.create_user("new")  # sequences continue
        assert User.objects.get(username="new").pk > max(row["id"] for row in before["accounts_user"])


def test_only_the_owner_can_read_a_backup(games: list[Game], file: Path) -> None:
    back_up(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_an_encrypted_backup_shows_nothing(games: list[Game], file: Path, passphrase: str) -> None:
    plain = back_up(file.with_name("plain.backup")).read_bytes()
    assert plain.startswith(archive.GZIP_MAGIC)
    hidden = back_up(file, passphrase).read_bytes()
    assert hidden.startswith(encryption.MAGIC)
    assert archive.GZIP_MAGIC not in hidden[HEADER:][:2]
    assert settings.SECRET_KEY.encode() not in hidden


def test_the_passphrase_comes_from_the_environment(
    games: list[Game], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKUP_PASSPHRASE", PASSPHRASE)
    assert archive.is_encrypted(back_up(file))
    call_command("verify_backup", str(file))


@pytest.mark.parametrize(("text", "said"), [("short\n", "at least 12 characters"), ("\n", "has no passphrase")])
def test_a_bad_passphrase_is_refused(file: Path, text: str, said: str) -> None:
    path = file.with_name("passphrase")
    path.write_text(text)
    with pytest.raises(CommandError, match=said):
        call_command("backup", str(file), f"--passphrase-file={path}")
    assert not file.exists()


def test_nobody_to_ask_for_a_passphrase(games: list[Game], file: Path, passphrase: str) -> None:
    with pytest.raises(CommandError, match="Give the passphrase by --passphrase-file"):
        call_command("backup", str(file), encrypt=True)
    back_up(file, passphrase)
    assert refusal(str(file)).startswith("Give the passphrase by --passphrase-file")


def test_a_wrong_passphrase_is_refused(games: list[Game], file: Path, passphrase: str) -> None:
    back_up(file, passphrase)
    Path(passphrase.partition("=")[2]).write_text("not the right one\n")
    assert refusal(str(file), passphrase) == (
        "The passphrase is wrong, or else the beginning of the file is damaged. Nothing was changed."
    )


def test_the_right_passphrase_of_a_damaged_file_is_called_right(games: list[Game], file: Path, passphrase: str) -> None:
    whole = back_up(file, passphrase).read_bytes()
    right = "The passphrase is right, but the file is damaged or cut off."
    wrong = "The passphrase is wrong, or else the beginning of the file is damaged."
    for at, said in ((len(encryption.MAGIC), wrong), (HEADER - 1, wrong), (HEADER, right), (len(whole) - 1, right)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(CommandError) as refused:
            call_command("verify_backup", str(file), passphrase)
        assert str(refused.value) == said
    file.write_bytes(whole[:-1])
    with pytest.raises(CommandError, match="The passphrase is right, but"):
        call_command("verify_backup", str(file), passphrase)


def test_format_1_is_still_read() -> None:
    """It has no tag that tells a wrong passphrase from a damaged file."""
    old = encryption.MAGIC_1 + bytes.fromhex(
        "000102030405060708090a0b0c0d0e0f92b53c8b462c9edc0ca1496d542525b2a8c3726a5a0a5f1c9e66"
    )
    assert encryption.DecryptingReader(io.BytesIO(old), PASSPHRASE).read() == b"0123456789"
    for there, tried in ((old, "another passphrase"), (old[:-1], PASSPHRASE)):
        with pytest.raises(encryption.BackupError, match=r"^The passphrase is wrong, or the file is damaged\.$"):
            encryption.DecryptingReader(io.BytesIO(there), tried).read()


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_file_that_is_cut_off_or_damaged_is_refused(
    games: list[Game], file: Path, passphrase: str, encrypted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encryption, "CHUNK", 1000)
    options = [passphrase] if encrypted else []
    whole = back_up(file, *options).read_bytes()
    before = every_row()
    header = len(encryption.MAGIC)
    for length in (
        header,
        header + 8,
        header + 20,
        3000,
        len(whole) // 2,
        len(whole) - 1016,
        len(whole) - 9,
        len(whole) - 1,
    ):
        file.write_bytes(whole[:length])
        with pytest.raises(CommandError, match=r"damaged|cut off"):
            call_command("restore", str(file), *options, replace=True)
    for at in (1000, len(whole) // 2, len(whole) - 5):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(CommandError, match=r"damaged"):
            call_command("restore", str(file), *options, replace=True)
    file.write_bytes(whole + b"more")
    with pytest.raises(CommandError, match=r"damaged"):
        call_command("restore", str(file), *options, replace=True)
    assert every_row() == before


def test_swapped_chunks_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "CHUNK", 10)
    file = io.BytesIO()
    writer = encryption.EncryptingWriter(file, PASSPHRASE)
    writer.write(b"0123456789" * 3)
    writer.finish()
    size = 26
    head, *chunks = file.getvalue()[:HEADER], *(file.getvalue()[HEADER + n * size :][:size] for n in range(3))

    def decrypted(*order: int) -> bytes:
        there = io.BytesIO(head + b"".join(chunks[n] for n in order))
        return encryption.DecryptingReader(there, PASSPHRASE).read()

    assert decrypted(0, 1, 2) == b"0123456789" * 3
    for order in ((1, 0, 2), (0, 1), (0, 2), (0, 1, 1, 2), (0, 1, 2, 2), (2,)):
        with pytest.raises(encryption.BackupError):
            decrypted(*order)


def test_other_files_are_refused(file: Path, games: list[Game]) -> None:
    assert refusal(str(file)) == f"{file}: No such file or directory. Nothing was changed."
    file.write_text("PGDMP")
    assert refusal(str(file)) == f"{file} is not a backup of No Mercy. Nothing was changed."
    with tarfile.open(file, "w:gz") as tar:
        tar.add(__file__, "manifest.json")
    assert refusal(str(file)) == "The file is damaged or cut off. Nothing was changed."


def plain_header(name: str, size: int, kind: bytes) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size, entry.type = size, kind
    return entry.tobuf(tarfile.GNU_FORMAT)


HUGE = 512 * 1024 * 1024
HOSTILE = {
    "a long name": (plain_header("././@LongLink", HUGE, tarfile.GNUTYPE_LONGNAME), HUGE),
    "a long link": (plain_header("././@LongLink", HUGE, tarfile.GNUTYPE_LONGLINK), HUGE),
    "extended headers": (plain_header("manifest.json", HUGE, tarfile.XHDTYPE), HUGE),
    "headers for all": (plain_header("manifest.json", HUGE, tarfile.XGLTYPE), HUGE),
    "a sparse file": (plain_header("manifest.json", HUGE, tarfile.GNUTYPE_SPARSE), HUGE),
    "a large part": (plain_header("manifest.json", HUGE, tarfile.REGTYPE), HUGE),
    "more than the largest number of octal digits": (plain_header("manifest.json", 2**40, tarfile.REGTYPE), HUGE),
    "a negative size": (plain_header("manifest.json", -512, tarfile.REGTYPE), 0),
    "a large manifest": (plain_header("manifest.json", 2**21, tarfile.REGTYPE), 2**21),
}


@pytest.mark.parametrize(("header", "zeros"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_takes_little_memory(header: bytes, zeros: int, file: Path) -> None:
    """Each of these files is small, because zeros are compressed well."""
    file.write_bytes(gzip.compress(header) + gzip.compress(bytes(2**20)) * (zeros // 2**20))
    tracemalloc.start()
    try:
        with pytest.raises(CommandError) as refused:
            call_command("verify_backup", str(file))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert str(refused.value) == "The file is damaged or cut off."
    assert most < 20 * 1024 * 1024


@pytest.mark.parametrize(
    "change",
    [
        {"tables": 5},
        {"tables": {"a": 5}},
        {"tables": {"a": [1]}},
        {"sequences": [[1]]},
        {"migrations": [[[], 2]]},
        {"format": "1\x1b[2J"},
        {"version": "0.1.0\x1b[2K\rother.backup is whole and encrypted"},
        {"site_url": "https://good.example\x9b2K"},
        {"site_url": "\ud800"},
        {"tables": {"\x1b]0;owned\x07": []}},
    ],
    ids=ascii,
)
def test_a_manifest_of_other_types_or_with_control_characters_is_damage(
    games: list[Game], file: Path, change: dict[str, Any]
) -> None:
    back_up(file)
    with pytest.raises(CommandError, match="damaged"):
        call_command("verify_backup", str(rewritten(file, **change)))


def test_what_the_database_says_of_a_value_shows_no_control_characters() -> None:
    with pytest.raises(CommandError, match=r'syntax: "\?\[2J"\.$'), one_sentence(""):
        raise DataError('invalid input syntax: "\x1b[2J"\nCONTEXT: COPY')


@pytest.mark.parametrize("value", ["\ud800", "a\0b"], ids=ascii)
def test_settings_that_no_file_can_have_are_damage(games: list[Game], file: Path, tmp_path: Path, value: str) -> None:
    back_up(file)
    kept = {"SITE_URL": "https://uno.example", "SECRET_KEY": "k" * 50, "EMAIL_FROM": value}
    hostile, written = rewritten(file, settings=kept), tmp_path / "written.env"
    with pytest.raises(CommandError, match="damaged"):
        call_command("verify_backup", str(hostile), write_settings=written)
    assert not written.exists()


def test_deeply_nested_json_is_damage(file: Path) -> None:
    with file.open("wb") as target:
        writer = archive.Writer(target, passphrase="", now=timezone.now())
        writer.add(manifest.NAME, b"[" * 100_000)
        writer.finish()
    with pytest.raises(CommandError, match="damaged"):
        call_command("verify_backup", str(file))


def test_the_number_of_parts_is_limited(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with file.open("wb") as target:
        writer = archive.Writer(target, passphrase="", now=timezone.now())
        for number in range(5):
            writer.add(f"tables/t/{number}", b"")
        writer.finish()
    assert len(list(archive.parts(file, passphrase=""))) == 5
    monkeypatch.setattr(archive, "MOST_PARTS", 5)
    with pytest.raises(encryption.BackupError, match="too large"):
        writer.add("tables/t/5", b"")
    monkeypatch.setattr(archive, "MOST_PARTS", 4)
    with pytest.raises(encryption.BackupError, match="damaged"):
        list(archive.parts(file, passphrase=""))


def rewritten(file: Path, **changes: Any) -> Path:
    """Change the manifest of a backup that is not encrypted."""
    found, others = manifest.read(file, passphrase="")
    changed = json.loads(found.as_json()) | changes
    new = file.with_suffix(".changed")
    with new.open("wb") as target:
        writer = archive.Writer(target, passphrase="", now=timezone.now())
        writer.add(manifest.NAME, json.dumps(changed).encode())
        for name, data in others:
            writer.add(name, data)
        writer.finish()
    return new


def test_a_backup_of_a_newer_release_is_refused(games: list[Game], file: Path) -> None:
    back_up(file)
    newer = [["games", "9999_later"], ["games", "0001_initial"]]
    assert refusal(str(rewritten(file, version="7.0", migrations=newer)), "--replace").startswith(
        "The backup was made by newer code (release 7.0) than the code here (release 0.1.0), which does not have the"
        " migration games.9999_later."
    )
    assert "has format 2" in refusal(str(rewritten(file, format=2)), "--replace")


@pytest.mark.more
def test_a_backup_of_another_site_needs_a_flag(games: list[Game], file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_URL", settings.SITE_URL)
    back_up(file)
    other = rewritten(file, site_url="https://other.example.org")
    assert refusal(str(other), "--replace").startswith("The backup is of the site https://other.example.org, and")
    call_command("restore", str(other), replace=True, other_site=True)


def test_a_running_site_is_noticed(games: list[Game], file: Path) -> None:
    back_up(file)
    with psycopg.connect(database_url()):
        assert refusal(str(file), "--replace").startswith("The database is in use by 1 other connection. Stop every")


@pytest.mark.more
def test_a_failure_in_the_middle_changes_nothing(games: list[Game], file: Path) -> None:
    back_up(file)
    found, others = manifest.read(file, passphrase="")
    bad = file.with_name("bad.backup")
    with bad.open("wb") as target:
        writer = archive.Writer(target, passphrase="", now=timezone.now())
        writer.add(manifest.NAME, found.as_json())
        for name, data in others:
            writer.add(name, b"nonsense\n" if name.startswith("tables/games_seat/") else data)
        writer.finish()
    assert re.match(r"The database failed: .*\. Nothing was changed\.", refusal(str(bad), "--replace"))


def test_a_database_without_rights_is_refused_with_the_cause(games: list[Game], file: Path) -> None:
    """Django puts such a cause into brackets, together with its detail on further lines."""
    back_up(file)
    owner = connection.settings_dict["USER"]
    with empty_database("rights"), connection.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS stranger")
        cursor.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC; CREATE ROLE stranger")
        try:
            cursor.execute("GRANT USAGE ON SCHEMA public TO stranger; SET ROLE stranger")
            with pytest.raises(CommandError) as refused:
                call_command("restore", str(file))
        finally:
            cursor.execute(f'SET ROLE "{owner}"; DROP OWNED BY stranger; DROP ROLE stranger')
    said = "The database failed: permission denied for schema public. Nothing was changed."
    assert str(refused.value) == said


def test_no_file_is_overwritten(games: list[Game], file: Path) -> None:
    file.write_text("precious")
    with pytest.raises(CommandError, match=r"exists already\. Choose another name\. No backup was made\."):
        back_up(file)
    assert file.read_text() == "precious"


def test_a_folder_that_is_missing_is_a_sentence(games: list[Game], file: Path) -> None:
    there = file.parent / "missing" / "site.backup"
    with pytest.raises(CommandError) as refused:
        back_up(there)
    assert str(refused.value) == f"{there}: No such file or directory. No backup was made."


@pytest.mark.parametrize("room", [0, 100, 3000])
def test_a_full_disk_is_a_sentence_and_leaves_no_file(
    games: list[Game], file: Path, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FullDisk(io.FileIO):
        def write(self, data: Any) -> int:
            if self.tell() + len(data) > room:
                raise OSError(28, os.strerror(28))
            return super().write(data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", FullDisk)
        with pytest.raises(CommandError) as refused:
            back_up(file)
    assert str(refused.value) == f"{file}: No space left on device. No backup was made."
    assert list(file.parent.iterdir()) == []

    back_up(file)
    written = file.with_name("new.env")
    room = min(room, 10)
    monkeypatch.setattr(os, "fdopen", FullDisk)
    with pytest.raises(CommandError) as refused:
        call_command("verify_backup", str(file), write_settings=written)
    assert str(refused.value) == f"{written}: No space left on device. Nothing was written."
    assert list(file.parent.iterdir()) == [file]


KILLED_IN_A_BACKUP = """
import os, signal, sys
from pathlib import Path
from nomercy.backup.files import new_file
with new_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_backup_removes_what_a_killed_one_left(games: list[Game], file: Path) -> None:
    killed = [sys.executable, "-c", KILLED_IN_A_BACKUP, str(file.with_name("killed.backup"))]
    assert subprocess.run(killed, cwd=CHECKOUT, check=False).returncode == -signal.SIGKILL
    (left,) = file.parent.iterdir()
    others = file.with_name(f"{files.PREFIX}link")
    others.symlink_to("/nowhere")
    with files.new_file(file.with_name("running.backup")):
        assert not left.exists()
        back_up(file)
    assert sorted(file.parent.iterdir()) == sorted([others, file, file.with_name("running.backup")])


@pytest.mark.more
def test_a_backup_has_one_moment(games: list[Game], file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_out = tables.copy_out

    def meanwhile(table: str, names: list[str]) -> Iterator[bytes]:
        if table == "accounts_user":
            with psycopg.connect(database_url()) as other:
                other.execute("UPDATE games_move SET text = 'later'")
        return copy_out(table, names)

    monkeypatch.setattr(tables, "copy_out", meanwhile)
    back_up(file)
    with another_database():
        call_command("restore", str(file))
        call_command("check_games")


@pytest.mark.more
def test_accounts_and_games_are_deleted_only_if_told_so_and_tables_of_others_are_left_out(
    games: list[Game], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE mine (n integer)")
    try:
        back_up(file)
        assert "Left out, because they are not tables of the site: mine.\n" in capsys.readouterr().err
        User.objects.create_user("later")
        assert refusal(str(file)).startswith("The database has accounts or games. Restore into an empty one")
        call_command("restore", str(file), replace=True)
        assert not User.objects.filter(username="later").exists()
        assert Game.objects.count() == 2
        assert "mine" in connection.introspection.table_names()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE mine")


@pytest.mark.more
def test_a_hostile_backup_writes_nothing_into_tables_of_others(
    games: list[Game], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE payroll (who text)")
        cursor.execute("INSERT INTO payroll VALUES ('mallory')")
    try:
        with monkeypatch.context() as patch:
            patch.setattr(tables, "is_ours", lambda name: True)
            back_up(file)
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM payroll")
        call_command("restore", str(file), replace=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM payroll")
            assert cursor.fetchone() == (0,)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE payroll")


def test_a_backup_of_an_empty_database_is_refused(db: None, file: Path) -> None:
    with empty_database("nothing"), pytest.raises(CommandError, match="has no site in it"):
        back_up(file)


def test_the_settings_can_be_read_back(
    games: list[Game],
    file: Path,
    passphrase: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("EMAIL_FROM", "It's \\ me <me@example.org>")
    back_up(file, passphrase)
    written = file.with_name("local.env")

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


def test_an_empty_name_is_refused(db: None) -> None:
    with pytest.raises(CommandError, match=r"^The name of the new file is empty\. No backup was made\.$"):
        call_command("backup", "")


def test_a_site_url_is_kept_only_if_it_is_set(
    games: list[Game], file: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    back_up(file)
    assert "SITE_URL" not in manifest.verify(file, passphrase="").settings
    file.unlink()
    monkeypatch.setenv("SITE_URL", settings.SITE_URL)
    back_up(file)
    assert manifest.verify(file, passphrase="").settings["SITE_URL"] == settings.SITE_URL


@pytest.mark.more
def test_another_key_is_said_and_another_port_of_this_machine_is_no_other_site(
    games: list[Game], file: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    back_up(file)
    settings.SITE_URL = "http://127.0.0.1:8461"
    settings.SECRET_KEY = "another key, also only for tests " * 2
    call_command("restore", str(file), replace=True)
    said = capsys.readouterr().out
    assert "SECRET_KEY here is not that of the backup." in said
    assert "everybody is logged out, links in sent mails are invalid, and second factors cannot be read." in said
    assert "put it into SECRET_KEY_FALLBACKS" in said
    assert settings.SECRET_KEY not in said


@pytest.mark.parametrize("command", ["restore", "verify_backup"])
@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_plain_file_in_place_of_an_encrypted_one_is_refused(
    games: list[Game], file: Path, passphrase: str, command: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(file)
    if by == "environment":
        monkeypatch.setenv("BACKUP_PASSPHRASE", PASSPHRASE)
    before = every_row()
    with pytest.raises(CommandError, match="not encrypted, so anybody could have made it"):
        call_command(command, str(file), *([passphrase] if by == "option" else []))
    assert every_row() == before
    call_command("verify_backup", str(file), passphrase, "--not-encrypted")


BAD_SETTINGS: dict[str, Any] = {
    "another name": {"LD_PRELOAD": "x.so"},
    "a list": {"EMAIL_FROM": ["a"]},
    "no key": {"SECRET_KEY": None},
    "a line break": {"EMAIL_FROM": "a'\\\nLD_PRELOAD=x.so\r\n'\""},
    "a control character": {"ALLOWED_HOSTS": "a\x1b[2J"},
}


@pytest.mark.parametrize("change", BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_settings_of_a_hostile_file_are_refused(games: list[Game], file: Path, tmp_path: Path, change: Any) -> None:
    own = manifest.site_settings()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest, "site_settings", lambda: own | change)
        back_up(file)
    with pytest.raises(CommandError, match="damaged"):
        call_command("verify_backup", str(file), f"--write-settings={tmp_path / 'new.env'}")
    assert not (tmp_path / "new.env").exists()


@pytest.mark.more
def test_a_restore_names_open_tables_that_cannot_be_read(
    games: list[Game], alice: User, bob: User, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken, _ = open_table(alice), open_table(bob)
    Game.objects.filter(pk=broken.pk).update(preset="later")
    back_up(file)
    with pytest.raises(CommandError, match=rf"^These open tables could not be read: game {broken.pk}\. ") as refused:
        call_command("restore", str(file), replace=True)
    assert refused.value.returncode == 1
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
def test_a_shell_runs_no_part_of_written_settings(
    games: list[Game],
    file: Path,
    tmp_path: Path,
    value: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = manifest.site_settings()
    monkeypatch.setattr(manifest, "site_settings", lambda: own | {"EMAIL_FROM": value, "RATE_LIMITS": "7"})
    back_up(file)
    written = tmp_path / "new.env"
    call_command("verify_backup", str(file), f"--write-settings={written}")

    script = '. ./new.env; printf "%s|%s" "$EMAIL_FROM" "$RATE_LIMITS"'
    command = ["/bin/sh", "-euc", f"EMAIL_FROM=; {script}"]
    shell = subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, text=True)
    in_comment = "the line is a comment" in capsys.readouterr().out
    assert (shell.stdout, shell.stderr) == (("" if in_comment else value) + "|7", "")
    assert not (tmp_path / "pwned").exists()
    assert in_comment == (bool({"'", "\\"} & set(value)) and bool({"$", "`"} & set(value)))

    text = written.read_text()
    assert ("EMAIL_FROM" in dotenv_values(written, interpolate=False)) != in_comment
    written.write_text(text.replace("# EMAIL_FROM", "EMAIL_FROM"))
    assert dotenv_values(written, interpolate=False)["EMAIL_FROM"] == value
