"""Run every benchmark, or the ones named: `python -m benchmarks streams history`."""

import sys
from importlib import import_module

BENCHMARKS = ("streams", "arguments", "history", "transport", "store", "waste", "engine", "memory", "gateway")


def main() -> int:
    names = sys.argv[1:] or BENCHMARKS
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; known: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in names:
        print(f"\n== {name}")
        import_module(f"benchmarks.{name}").main()
    return 0


sys.exit(main())
