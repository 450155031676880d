"""From a table to a defended model."""
