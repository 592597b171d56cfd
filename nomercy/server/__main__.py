"""`python -m nomercy.server`. The code is in `command`, which the processes for pages import."""

from nomercy.server.command import main

if __name__ == "__main__":
    main()
