"""The screen's tables: what secrets, personal data, instructions in disguise and hidden text look like."""
