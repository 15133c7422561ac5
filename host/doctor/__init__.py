"""`doctor`: looks at the whole installation and says what is wrong, why it matters and what to do. Changes nothing."""
