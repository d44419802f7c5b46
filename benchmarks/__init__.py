"""The project's models, measured against the shortest job that does their work by hand."""
