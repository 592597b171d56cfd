"""Every write. Each action takes plain values and `now`, does one thing in one transaction, and returns values."""
