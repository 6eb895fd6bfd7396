"""Walls around commands: what they may reach, by which means, and what is told about it."""
