"""Errors that a person can act on: one sentence, no stack trace."""

from dbt_common.exceptions import DbtRuntimeError


class SessionError(DbtRuntimeError):
    """The Spark session could not be opened; the message says why and what to do."""
