"""The cost of durability: Outlast compared with two other servers that do the same work.

`raw` does the least work possible, `naive` is the obvious first version; both keep everything in memory. All three use
the same fake model server and the same client, so the ratios between them are meaningful on any machine. These are not
tests: the figures are for people to compare. Run them with `make bench`.
"""
