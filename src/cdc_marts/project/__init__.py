"""The dbt project that a command works on: its targets, their sessions, and what it builds."""

from cdc_marts.project.session import spark_session

__all__ = ["spark_session"]
