"""What commands do with a target: rounds of runs, status, report, upkeep, repair and erasure."""
