"""Where the time and the memory of the models go, and what other engines take."""
