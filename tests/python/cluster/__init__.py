"""The target `cluster` on a real one: a master, workers and a catalog server on this machine."""
