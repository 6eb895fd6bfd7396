"""The rules, by what they are about. `history.invariants` lists all of them."""
