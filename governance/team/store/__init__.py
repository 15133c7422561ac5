"""The rows of the team workflow in governance.db. One transaction is one function over a connection."""
