"""Power-flow solvers around the devices of a derbench simulator: adapters, and examples that judge themselves."""
