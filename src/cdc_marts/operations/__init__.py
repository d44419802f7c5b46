"""What is done with a target: rounds of runs, status, report, maintenance, repair and erasure."""
