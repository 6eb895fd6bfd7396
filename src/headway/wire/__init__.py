"""The wires: pure, symmetric codecs between providers' bytes and Headway's vocabulary. `wire.table` lists them."""
