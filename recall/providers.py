"""Files that agent products keep themselves (M-06): which they are, and what of them a product loads by itself. Pure."""


def loaded_by(provider: str, relative: str, line: int, byte: int) -> tuple[str, ...]:
    """The hosts whose every context holds what stands at that line (1-based) and byte of a provider's file."""
    return ()
