"""Formation as its users ask for it: on the wire, for a model or for the agent that runs."""
