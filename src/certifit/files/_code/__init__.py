"""A fitted model as code without dependencies: SQL, Python, C."""
