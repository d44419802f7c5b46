"""Typed marts: declared source tables as tables with real columns."""
