"""The HTTP server: uvicorn with limits on what one client can hold, and a bridge to the WSGI app.

`connections` limits connections, `admission` limits requests and reads their bodies, `bridge` runs the pages in
threads, and `refusals` has the answers for what is over a limit. `python -m nomercy.server` starts a server.
"""
