"""When a turn is over, and what moves that moment.

`turn_clock` computes deadlines. `pausing` stops a clock, lets it run on and gives it more time. `vacations` starts and
ends them, and `quiet_hours` lets clocks follow a vacation or quiet hours that have changed. `outage` gives the time of
an outage back. When time has run out, `games/actions/timeouts.py` acts.
"""
