"""What is done with a target besides its runs: rounds, status, report, upkeep, repair, erasure."""
