"""Ways in: what brings messages into the landing tables, byte for byte."""


class LandingError(Exception):
    """Nothing was landed; the message says why."""


class WrongInput(LandingError):
    """What was given to land is not what it should be; the message says what to change."""
