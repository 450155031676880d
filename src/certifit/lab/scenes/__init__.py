"""The scenes, one file each. A file put here is found by itself."""
