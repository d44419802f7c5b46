"""The parts of the fold that are hard to write in SQL: functions from DataFrames to DataFrames."""
