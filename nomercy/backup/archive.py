"""The file of a backup: a tar file of a key, and of the settings and the dump of the database, encrypted to it by age.

The key is in `key.age`, which is encrypted with the passphrase, or in `key.txt` if there is none. So the programs `tar`
and `age` read the file without this code (docs/operations.md, Reading a backup without the site).
"""

import base64
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Final

import pyrage
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from pyrage.x25519 import Identity

ENCRYPTED_KEY, PLAIN_KEY, SETTINGS, DUMP = "key.age", "key.txt", "settings.age", "dump.age"
SCRYPT_LOG_N: Final = 16
"""With 8 blocks this takes 64 MB and a fraction of a second for each try of a passphrase."""
OF_F8C9A292: Final = (b"\x1f\x8b", b"nomercy backup, encrypted, format ")
"""How the backups of f8c9a292 begin: with gzip's bytes if they are not encrypted."""
DAMAGED: Final = "The file is damaged or cut off."
BUFFER: Final = 1024 * 1024


class BackupError(Exception):
    """A backup cannot be made or used. The message is one or more sentences for the operator."""


def write(file: IO[bytes], settings: bytes, dump: subprocess.Popen[bytes], passphrase: str, now: datetime) -> None:
    """Write a backup into an empty file.

    :param dump: a program whose standard output is the dump. It is killed if the file cannot be written.
    :param passphrase: encrypts the key unless it is empty.
    :raises OSError: the file cannot be written.
    """
    key = Identity.generate()
    to = [key.to_public()]
    with _part(file, ENCRYPTED_KEY if passphrase else PLAIN_KEY, now):
        file.write(_encrypted(f"{key}\n".encode(), passphrase) if passphrase else f"{key}\n".encode())
    with _part(file, SETTINGS, now):
        file.write(pyrage.encrypt(settings, to))
    with _part(file, DUMP, now), _in_a_thread(lambda out: pyrage.encrypt_io(dump.stdout, out, to), dump.kill) as made:
        shutil.copyfileobj(made, file)
    file.write(bytes(2 * tarfile.BLOCKSIZE))


def is_encrypted(path: Path) -> bool:
    """Return True if a passphrase is needed to read this backup.

    :raises BackupError: the file is not a backup, or one of f8c9a292.
    :raises OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(tarfile.BLOCKSIZE).startswith(OF_F8C9A292):
            raise BackupError(
                f"{path} is not a backup that this release reads. If the code of f8c9a292 made it, that code reads it:"
                " restore it there (git checkout f8c9a292), and then start this release with the same database."
            )
    try:
        with tarfile.open(path, "r:") as tar:
            first = tar.next()
    except tarfile.TarError:
        first = None
    if first is None or first.name not in (ENCRYPTED_KEY, PLAIN_KEY):
        raise BackupError(f"{path} is not a backup of No Mercy.")
    return first.name == ENCRYPTED_KEY


def key_of(path: Path, passphrase: str) -> Identity:
    """Return the key of a backup. `passphrase` is "" for one that is not encrypted.

    :raises BackupError: the passphrase is wrong, or the file is damaged.
    :raises OSError: it cannot be read.
    """
    try:
        with _opened(path, ENCRYPTED_KEY if passphrase else PLAIN_KEY) as part:
            text = part.read(BUFFER)
        return Identity.from_str((pyrage.passphrase.decrypt(text, passphrase) if passphrase else text).decode().strip())
    except pyrage.DecryptError as error:
        raise BackupError("The passphrase is wrong, or else the beginning of the file is damaged.") from error
    except (pyrage.IdentityError, UnicodeDecodeError) as error:
        raise BackupError(DAMAGED) from error


@contextmanager
def decrypted(path: Path, name: str, key: Identity) -> Iterator[IO[bytes]]:
    """Yield a part of a backup as a file. It is as it was written as far as it can be read.

    :raises BackupError: the block has read to the end, and the part is damaged or cut off.
    """

    def decrypt(target: IO[bytes]) -> None:
        try:
            with _opened(path, name) as part:
                pyrage.decrypt_io(part, target, [key])
        except (pyrage.DecryptError, OSError) as error:
            raise BackupError(DAMAGED) from error

    with _in_a_thread(decrypt) as file:
        yield file


def _encrypted(text: bytes, passphrase: str) -> bytes:
    """Return a short text encrypted with a passphrase, in the format of age (https://age-encryption.org/v1)."""
    # Not `pyrage.passphrase.encrypt`: it takes the memory of a second of scrypt, 512 MB on a fast machine, and so does
    # each later try to decrypt that.
    file_key, salt, nonce = os.urandom(16), os.urandom(16), os.urandom(16)
    salted = b"age-encryption.org/v1/scrypt" + salt
    wrapping_key = Scrypt(salt=salted, length=32, n=2**SCRYPT_LOG_N, r=8, p=1).derive(passphrase.encode())
    wrapped = ChaCha20Poly1305(wrapping_key).encrypt(bytes(12), file_key, None)
    header = b"age-encryption.org/v1\n-> scrypt %b %d\n%b\n---" % (_base64(salt), SCRYPT_LOG_N, _base64(wrapped))
    mac = HMAC(HKDF(SHA256(), 32, salt=None, info=b"header").derive(file_key), SHA256())
    mac.update(header)
    payload = ChaCha20Poly1305(HKDF(SHA256(), 32, salt=nonce, info=b"payload").derive(file_key))
    return b"%b %b\n%b%b" % (header, _base64(mac.finalize()), nonce, payload.encrypt(bytes(11) + b"\x01", text, None))


def _base64(data: bytes) -> bytes:
    return base64.b64encode(data).rstrip(b"=")


@contextmanager
def _part(file: IO[bytes], name: str, now: datetime) -> Iterator[None]:
    """Make what the block writes at the end of the file a part of the tar file, whose size may be unknown before."""
    start = file.tell()
    file.write(bytes(tarfile.BLOCKSIZE))
    yield
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = file.tell() - start - tarfile.BLOCKSIZE, int(now.timestamp()), 0o600
    file.write(bytes(-entry.size % tarfile.BLOCKSIZE))
    file.seek(start)
    file.write(entry.tobuf(tarfile.GNU_FORMAT))
    file.seek(0, os.SEEK_END)


@contextmanager
def _opened(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Yield a part of the tar file as it is stored.

    :raises BackupError: it is not there.
    """
    try:
        with tarfile.open(path, "r:") as tar:
            yield tar.extractfile(name) or io.BytesIO()  # of what is not a plain file, nothing is read
    except (tarfile.TarError, KeyError) as error:
        raise BackupError(DAMAGED) from error


@contextmanager
def _in_a_thread(
    write: Callable[[IO[bytes]], object], stop: Callable[[], object] = lambda: None
) -> Iterator[IO[bytes]]:
    """Yield what a function of pyrage writes, and raise its error at the end of the block.

    In the main thread pyrage would turn Ctrl-C into an error of its own, and that of a full disk, too.

    :param stop: called first if the block fails, so that the function ends.
    """
    source, target = os.pipe()

    def run() -> None:
        with os.fdopen(target, "wb") as file:
            write(file)

    with ThreadPoolExecutor(1) as pool, os.fdopen(source, "rb") as file:
        written = pool.submit(run)
        try:
            yield file
            written.result()
        except BaseException:
            stop()
            raise
