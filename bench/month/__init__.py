"""Simulate a month of a site on a fake clock: people in six time zones, with the real sweep and mail path."""
