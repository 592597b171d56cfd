"""The health check of the image: exit with 0 if the web process answers /healthz with 200."""

import sys
from http.client import HTTPConnection

connection = HTTPConnection("127.0.0.1", 8000, timeout=2)
connection.request("GET", "/healthz", headers={"Host": "127.0.0.1", "X-Forwarded-Proto": "https"})
sys.exit(connection.getresponse().status != 200)
