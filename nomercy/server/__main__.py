"""`python -m nomercy.server`: see `command`, which the processes for pages can import."""

from nomercy.server.command import main

if __name__ == "__main__":
    main()
