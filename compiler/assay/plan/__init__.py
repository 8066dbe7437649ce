"""Middle: (metrics, filters) to an ordered graph of steps.  Demand-driven: nothing that nobody asked for."""
