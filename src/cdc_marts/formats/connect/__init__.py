"""A module that the formats of Kafka Connect share: Lindorm, and the two formats of CDL."""
