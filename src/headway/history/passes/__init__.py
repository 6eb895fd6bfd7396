"""The passes of repair and projection. Each takes entries and gives entries, and notes what it changed."""
