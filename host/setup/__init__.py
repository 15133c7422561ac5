"""Connecting agent products: their settings, edited in place and taken back. One module a product."""
