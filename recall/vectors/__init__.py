"""The engine's own process (M-07, extra `semantic`): nothing else imports this package, and only it imports numpy."""
