"""Refuse forms with files. No page and no API call accepts any."""

from typing import NoReturn

from django.core.files.uploadhandler import FileUploadHandler
from django.http.multipartparser import MultiPartParserError

SENTENCE = "This site accepts no files, so nothing was done. Send the form without files."


class FileRefused(MultiPartParserError):
    """A request has a file. Django answers 400."""


class NoFiles(FileUploadHandler):
    """The upload handler, which refuses all files."""

    def new_file(self, *file: object, **more: object) -> NoReturn:
        raise FileRefused(SENTENCE)
