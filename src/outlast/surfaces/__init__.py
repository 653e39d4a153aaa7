"""How others reach the program: `http/` serves programs and browsers, `cli/` people in a terminal, `protocols/` clients
of other makers. A surface translates: it reads its input, calls one action or follows a stream, and shapes the answer.
"""
