"""The papers' claims, each with a check that can fail: see __main__.py."""
