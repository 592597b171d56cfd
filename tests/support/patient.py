"""The site's settings, with senders that wait for a mail server longer than a busy machine makes a test take."""

from nomercy.settings import *  # noqa: F403  # the point of this module

EMAIL_BACKEND = "tests.support.mail.PatientBackend"
