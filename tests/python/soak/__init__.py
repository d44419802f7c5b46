"""An hour of rounds over a live Kafka, with all that may go wrong in an hour."""
