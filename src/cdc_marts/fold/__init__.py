"""The parts of the fold that SQL can't say well, as functions from DataFrames to DataFrames."""
