"""Encrypt a stream with a passphrase, in chunks that are each authenticated.

After the magic line and a salt, each chunk of `CHUNK` bytes is encrypted with ChaCha20-Poly1305. The key comes from the
passphrase by scrypt. The nonce is the chunk's number and whether it is the last, as in the STREAM construction of age
(https://age-encryption.org/v1), so missing, swapped and repeated chunks are found, and so is a file that is cut off.
"""

import os
from typing import IO, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

MAGIC: Final = b"nomercy backup, encrypted, format 1\n"
SALT_BYTES: Final = 16
CHUNK: Final = 64 * 1024
TAG_BYTES: Final = 16
SCRYPT_N: Final = 2**17
"""With 8 blocks this takes 128 MB and a fraction of a second for each try of a passphrase."""


class BackupError(Exception):
    """A backup cannot be made or used. The message is one or more sentences for the operator."""


class _Chunks:
    """Makes the key, and the nonce of each chunk in order."""

    def __init__(self, passphrase: str, salt: bytes) -> None:
        derive = Scrypt(salt=salt, length=32, n=SCRYPT_N, r=8, p=1)
        self.cipher = ChaCha20Poly1305(derive.derive(passphrase.encode()))
        self.header = MAGIC + salt
        self.count = 0

    def nonce(self, *, last: bool) -> bytes:
        self.count += 1
        return self.count.to_bytes(11) + bytes([last])


class EncryptingWriter:
    """A writable that encrypts into `file`. `finish` writes the last chunk; without it the file counts as cut off."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        salt = os.urandom(SALT_BYTES)
        self._file = file
        self._chunks = _Chunks(passphrase, salt)
        self._waiting = bytearray()
        file.write(MAGIC + salt)

    def write(self, data: bytes) -> int:
        self._waiting += data
        while len(self._waiting) > CHUNK:  # the last chunk is never empty, unless nothing is written at all
            self._encrypt(bytes(self._waiting[:CHUNK]), last=False)
            del self._waiting[:CHUNK]
        return len(data)

    def finish(self) -> None:
        self._encrypt(bytes(self._waiting), last=True)

    def _encrypt(self, chunk: bytes, *, last: bool) -> None:
        nonce = self._chunks.nonce(last=last)
        self._file.write(self._chunks.cipher.encrypt(nonce, chunk, self._chunks.header))


class DecryptingReader:
    """A readable that decrypts `file`, which stands after its magic line."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        salt = file.read(SALT_BYTES)
        if len(salt) < SALT_BYTES:
            raise BackupError("The file is cut off.")
        self._file = file
        self._chunks = _Chunks(passphrase, salt)
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
            return self._chunks.cipher.decrypt(self._chunks.nonce(last=self._ended), chunk, self._chunks.header)
        except InvalidTag:
            first = self._chunks.count == 1
            raise BackupError(
                "The passphrase is wrong, or the file is damaged." if first else "The file is damaged or cut off."
            ) from None
