"""Deadlines of turns, and what changes them.

`turn_clock` computes deadlines. `pausing` stops, resumes and extends clocks. `vacations` starts and ends vacations.
`quiet_hours` moves clocks after a vacation or quiet hours have changed. `outage` gives the time of an outage back.
`bot_times` sets when bots move. When time runs out, `games/actions/timeouts.py` acts.
"""
