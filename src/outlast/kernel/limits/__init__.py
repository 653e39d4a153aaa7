"""Limits: sizes of requests, and runs per minute per user and per project.

A *size limit* is checked before anything is stored; the error names what was too large, its size and the limit.
A *rate limit* counts rows (the runs of the last minute), so it holds across processes and restarts; 0 turns it off.
"""
