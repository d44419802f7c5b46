"""What a killed, starved or hindered run leaves, and what the next one makes of it."""
