"""What the parser of DTS Avro needs alone."""
