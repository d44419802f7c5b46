"""The project that histories go through."""

from tests.python.end_to_end.conftest import project

__all__ = ["project"]
