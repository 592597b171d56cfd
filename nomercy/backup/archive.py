"""The parts of a backup: a gzipped tar file, perhaps encrypted, whose last part has the SHA-256 of all others.

Writing and reading take the memory of one part, however large the database is.
"""

import gzip
import hashlib
import json
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

from nomercy.backup.encryption import MAGIC, MAGIC_1, BackupError, DecryptingReader, EncryptingWriter

GZIP_MAGIC: Final = b"\x1f\x8b"
COMPRESSION: Final = 6
GZIP_BITS: Final = 16 + zlib.MAX_WBITS  # with the header and end of a gzip file
LARGEST_PART: Final = 64 * 1024 * 1024
MOST_PARTS: Final = 100_000
"""The most parts of a backup. Tables have parts of 4 MB, so this is enough for 400 GB."""
END: Final = bytes(2 * tarfile.BLOCKSIZE)
CHECKSUMS: Final = "checksums.json"
DAMAGED: Final = "The file is damaged or cut off."


class Writer:
    """Writes the parts of an archive. `finish` completes it."""

    def __init__(self, file: IO[bytes], *, passphrase: str, now: datetime) -> None:
        self._encrypting = EncryptingWriter(file, passphrase) if passphrase else None
        self._file = self._encrypting or file
        # Not GzipFile and TarFile: after a failure, as of a full disk, they would write to the file once more.
        self._gzip = zlib.compressobj(COMPRESSION, wbits=GZIP_BITS)
        self._now = int(now.timestamp())
        self._checksums: dict[str, str] = {}

    def add(self, name: str, data: bytes) -> None:
        if len(self._checksums) == MOST_PARTS:
            raise BackupError("The database is too large for a backup.")
        self._checksums[name] = hashlib.sha256(data).hexdigest()
        self._add(name, data)

    def finish(self) -> None:
        """Write the checksums and the end of the file."""
        self._add(CHECKSUMS, json.dumps(self._checksums).encode())
        self._write(END)
        self._file.write(self._gzip.flush())
        if self._encrypting:
            self._encrypting.finish()

    def _add(self, name: str, data: bytes) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mtime, entry.mode = len(data), self._now, 0o600
        self._write(entry.tobuf(tarfile.USTAR_FORMAT, "utf-8"))
        self._write(data)
        self._write(bytes(-len(data) % tarfile.BLOCKSIZE))

    def _write(self, data: bytes) -> None:
        self._file.write(self._gzip.compress(data))


def is_encrypted(path: Path) -> bool:
    """Return True if a passphrase is needed to read this backup.

    :raises BackupError: the file is not a backup.
    :raises OSError: it cannot be read.
    """
    with path.open("rb") as file:
        start = file.read(len(MAGIC))
    encrypted = start in (MAGIC, MAGIC_1)
    if not encrypted and not start.startswith(GZIP_MAGIC):
        raise BackupError(f"{path} is not a backup of No Mercy.")
    return encrypted


def parts(path: Path, *, passphrase: str) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each part of a backup, without the checksums, after which it must end.

    Each part is compared with its checksum only at the end, so do not trust any before that.

    :raises BackupError: the passphrase is wrong, or the file is damaged or cut off.
    :raises OSError: it cannot be read.
    """
    seen: dict[str, str] = {}
    with _opened(path, passphrase) as unzipped, _damage_is_an_error():
        name, data = _next_part(unzipped)
        while name != CHECKSUMS:
            if len(seen) == MOST_PARTS:
                raise BackupError(DAMAGED)
            seen[name] = hashlib.sha256(data).hexdigest()
            yield name, data
            name, data = _next_part(unzipped)
        end = unzipped.read(len(END) + 1)  # reads to the end, which checks the ends of the outer layers, too
        if data != json.dumps(seen).encode() or end != END:
            raise BackupError(DAMAGED)


def _next_part(unzipped: gzip.GzipFile) -> tuple[str, bytes]:
    """Return the name and the content of the next part.

    Only plain entries are read, as `Writer` makes them. `tarfile` itself would also read extensions, such as long
    names, which can take any amount of memory.
    """
    entry = tarfile.TarInfo.frombuf(_exactly(unzipped, tarfile.BLOCKSIZE), "utf-8", "strict")
    if entry.type != tarfile.REGTYPE or not 0 <= entry.size <= LARGEST_PART:
        raise BackupError(DAMAGED)
    data = _exactly(unzipped, entry.size)
    _exactly(unzipped, -entry.size % tarfile.BLOCKSIZE)
    return entry.name, data


def _exactly(unzipped: gzip.GzipFile, size: int) -> bytes:
    data = unzipped.read(size)
    if len(data) < size:
        raise EOFError
    return data


@contextmanager
def _opened(path: Path, passphrase: str) -> Iterator[gzip.GzipFile]:
    with ExitStack() as stack:
        file: Any = stack.enter_context(path.open("rb"))
        if is_encrypted(path):
            file = DecryptingReader(file, passphrase)
        stack.enter_context(_damage_is_an_error())
        yield stack.enter_context(gzip.GzipFile(fileobj=file, mode="rb"))


@contextmanager
def _damage_is_an_error() -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise BackupError(DAMAGED) from error
