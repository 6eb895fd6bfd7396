"""The turn: the only place where machine, wire, transport and endpoints meet."""
