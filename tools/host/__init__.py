"""The commands of tools/fathom, one per file."""
