"""The `Content-Security-Policy` header of every response."""

from http import HTTPStatus

from csp.constants import HEADER
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin


class ContentSecurityPolicy(MiddlewareMixin):
    """Adds the policy of the settings to every response, except Django's debug pages."""

    # django-csp's own middleware builds the policy for each response, because a view may change it or use a nonce. None
    # does here, and building it takes 80 µs: a hundredth of a move's request.
    policy = build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        of_debug = settings.DEBUG and response.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.INTERNAL_SERVER_ERROR)
        if not of_debug:  # Django's debug pages have styles and scripts inside
            response.headers.setdefault(HEADER, self.policy)
        return response
