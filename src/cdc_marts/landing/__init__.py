"""Landing: the modules that bring messages into the landing tables, byte for byte."""


class LandingError(Exception):
    """Messages did not land; the message says why."""


class WrongInput(LandingError):
    """The files to land, or their map, are wrong; the message says what to change."""
