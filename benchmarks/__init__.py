"""Side-by-side benchmarks: `make bench`. Peers run in the same process, on the same bytes; read the ratios."""
