"""The doors of the program: `http/` for programs and browsers, `cli/` for people in a terminal, `contract` for the
files that describe both. A surface translates: it reads its input, calls one action or follows a stream, and shapes
the answer.
"""
