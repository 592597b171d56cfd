"""The health checks of the image. Exit with 0 if the process for pages here answers /healthz with 200.

With the argument `sweep`, for beat: exit with 0 if the process for pages of the container `web` says that the sweep,
which beat asks for, has run lately.
"""

import json
import sys
from http.client import HTTPConnection

sweep = sys.argv[1:] == ["sweep"]
connection = HTTPConnection("web" if sweep else "127.0.0.1", 8000, timeout=2)
connection.request(
    "GET", "/readyz" if sweep else "/healthz", headers={"Host": "127.0.0.1", "X-Forwarded-Proto": "https"}
)
answer = connection.getresponse()
well = json.load(answer)["parts"].get("sweep") != "away" if sweep else answer.status == 200
sys.exit(not well)
