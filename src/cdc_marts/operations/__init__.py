"""What is done with a target: rounds of runs, status, report, upkeep, repair and erasure."""
