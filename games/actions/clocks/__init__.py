"""Time: when a turn is over (`timing`), what stops its clock or gives it more (`stops`), its player's `rest` and
`vacations`, and what `heartbeat` gives back after an outage. When time has run out, `actions/timeouts.py` acts.
"""
