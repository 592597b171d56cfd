"""Encrypt a stream with a passphrase, in chunks that are each authenticated.

After the magic line and a salt, each chunk of `CHUNK` bytes is encrypted with ChaCha20-Poly1305. The key comes from the
passphrase by scrypt. The nonce is the chunk's number and whether it is the last, as in the STREAM construction of age
(https://age-encryption.org/v1), so missing, swapped and repeated chunks are found, and so is a file that is cut off.
Between the salt and the first chunk is the tag of chunk number 0, which is empty. It tells a wrong passphrase from a
damaged file. Format 1 has no such tag.
"""

import os
from typing import IO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

MAGIC: Final = b"nomercy backup, encrypted, format 2\n"
MAGIC_1: Final = b"nomercy backup, encrypted, format 1\n"
SALT_BYTES: Final = 16
CHUNK: Final = 64 * 1024
TAG_BYTES: Final = 16
SCRYPT_N: Final = 2**17
"""With 8 blocks this takes 128 MB and a fraction of a second for each try of a passphrase."""


class BackupError(Exception):
    """A backup cannot be made or used. The message is one or more sentences for the operator."""


class _Chunks:
    """Encrypts or decrypts the chunks in order. The first one has the number `first`."""

    def __init__(self, passphrase: str, magic: bytes, salt: bytes, *, first: int) -> None:
        derive = Scrypt(salt=salt, length=32, n=SCRYPT_N, r=8, p=1)
        self._cipher = ChaCha20Poly1305(derive.derive(passphrase.encode()))
        self._header = magic + salt
        self._next = first

    def encrypted(self, chunk: bytes, *, last: bool = False) -> bytes:
        return self._cipher.encrypt(self._nonce(last), chunk, self._header)

    def decrypted(self, chunk: bytes, *, last: bool = False) -> bytes:
        """Return the text of the next chunk.

        :raises InvalidTag: the key is another, or the chunk is not what was encrypted as this number.
        """
        return self._cipher.decrypt(self._nonce(last), chunk, self._header)

    def _nonce(self, last: bool) -> bytes:
        self._next += 1
        return (self._next - 1).to_bytes(11) + bytes([last])


class EncryptingWriter:
    """A writable that encrypts into `file`. `finish` writes the last chunk; without it the file counts as cut off."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        salt = os.urandom(SALT_BYTES)
        self._file = file
        self._chunks = _Chunks(passphrase, MAGIC, salt, first=0)
        self._waiting = bytearray()
        file.write(MAGIC + salt + self._chunks.encrypted(b""))

    def write(self, data: bytes) -> int:
        self._waiting += data
        while len(self._waiting) > CHUNK:  # the last chunk is never empty, unless nothing is written at all
            self._encrypt(bytes(self._waiting[:CHUNK]), last=False)
            del self._waiting[:CHUNK]
        return len(data)

    def finish(self) -> None:
        self._encrypt(bytes(self._waiting), last=True)

    def _encrypt(self, chunk: bytes, *, last: bool) -> None:
        self._file.write(self._chunks.encrypted(chunk, last=last))


class DecryptingReader:
    """A readable that decrypts `file`, which stands at its beginning.

    :raises BackupError: the passphrase is wrong, or the file is cut off.
    """

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        magic, salt = file.read(len(MAGIC)), file.read(SALT_BYTES)
        tag = file.read(TAG_BYTES) if magic == MAGIC else bytes(TAG_BYTES)
        if len(salt) < SALT_BYTES or len(tag) < TAG_BYTES:
            raise BackupError("The file is cut off.")
        self._file = file
        self._chunks = _Chunks(passphrase, magic, salt, first=0 if magic == MAGIC else 1)
        self._is_right = magic == MAGIC  # whether the passphrase is known to be
        if magic == MAGIC:
            try:
                self._chunks.decrypted(tag)
            except InvalidTag:
                raise BackupError("The passphrase is wrong, or else the beginning of the file is damaged.") from None
        self._next = file.read(CHUNK + TAG_BYTES)
        self._ready = b""
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` decrypted bytes, b"" at the end.

        :raises BackupError: the passphrase is wrong, or the file is damaged or cut off.
        """
        while not self._ended and (size < 0 or len(self._ready) < size):
            self._ready += self._decrypt()
        size = len(self._ready) if size < 0 else size
        wanted, self._ready = self._ready[:size], self._ready[size:]
        return wanted

    def _decrypt(self) -> bytes:
        chunk, self._next = self._next, self._file.read(CHUNK + TAG_BYTES)
        self._ended = not self._next
        try:
            text = self._chunks.decrypted(chunk, last=self._ended)
        except InvalidTag:
            known = "The passphrase is right, but the file is damaged or cut off."
            raise BackupError(known if self._is_right else "The passphrase is wrong, or the file is damaged.") from None
        self._is_right = True
        return text
