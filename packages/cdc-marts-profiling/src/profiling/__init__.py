"""Where the time and the memory of the models go, and how other engines compare."""
