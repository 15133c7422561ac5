"""The shell around the team workflow: its operations on the wire, and the world that they need."""
