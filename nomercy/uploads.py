"""No page and no call takes files: a form that brings one is refused before anything of it is kept."""

from typing import NoReturn

from django.core.files.uploadhandler import FileUploadHandler
from django.http.multipartparser import MultiPartParserError

SENTENCE = "This site takes no files, so nothing was done. Send the form without files."


class FileRefused(MultiPartParserError):
    """A request brought a file. Django answers 400, in every view."""


class NoFiles(FileUploadHandler):
    """The only handler of uploads."""

    def new_file(self, *file: object, **more: object) -> NoReturn:
        raise FileRefused(SENTENCE)
