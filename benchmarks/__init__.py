"""Measurements of the project's models, against the shortest job that does their work by hand."""
