"""Types and ports of the team workflow: documents a module each, what is stored in `rows`, the world in `ports`."""
