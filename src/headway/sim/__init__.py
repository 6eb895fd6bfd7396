"""A provider that misbehaves on purpose."""
