"""What people are told while they are away. `kinds` is the table of all kinds of notices."""
