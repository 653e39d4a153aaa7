"""Incoming webhooks: addresses at which other programs start runs.

A hook belongs to a project. A program posts JSON to its address and proves that it knows the secret
(`verification.py`). The template makes a message of it (`template.py`), and an agent answers as the maker of the hook,
with their rights. The texts from outside are marked as data. Each call with a valid secret is listed with its outcome.
"""
