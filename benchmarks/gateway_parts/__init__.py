"""The parts of the gateway benchmark: an upstream, a load, the gateways between them, and what a process costs."""
