"""Outlast beside two other servers doing the same work: how much does durability cost?

`raw` does the least work possible and forgets everything, `naive` is what one writes first, and forgets everything
too. All three ask the same fake model server and are followed by the same client, so the ratios between them mean
something on any machine. Nothing here is a test: figures are printed and compared by people. Run it with `make bench`.
"""
