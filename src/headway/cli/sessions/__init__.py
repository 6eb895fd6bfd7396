"""`headway sessions`: what was talked about, to be found, read, copied, carried elsewhere and back, and removed."""
