"""Write tables, rounds and moves. Each action takes plain values and `now`, and runs in one transaction."""
