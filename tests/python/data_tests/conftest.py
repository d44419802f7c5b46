"""The proofs of the data tests also read the project's manifest."""

from tests.python.project.conftest import manifest  # noqa: F401  (pytest finds fixtures by their names)
