"""How moments and days are written on the staff pages; all others say which form they want."""
