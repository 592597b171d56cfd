"""A month of a whole site on a fake clock: people in six time zones, the real sweep, the real mail path."""
