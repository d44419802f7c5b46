"""Ways in: what brings messages into the landing tables, byte for byte."""


class LandingError(Exception):
    """Nothing was landed; the message says why."""
