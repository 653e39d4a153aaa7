"""Screens: apps on a project's canvas, with their themes and the edits that people make by hand.

May use: the database, streams, locks, limits. Not: sandboxes, threads and other peers (they meet in the actions).
"""
