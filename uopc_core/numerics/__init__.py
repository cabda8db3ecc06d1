"""What operations mean, without handles: functions from nodes to a node."""
