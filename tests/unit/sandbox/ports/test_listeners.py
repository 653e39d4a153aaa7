from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.ports.listeners import ports_in

TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:1435 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 100 0 0 10 0
   2: 00000000000000000000000001000000:1F40 00000000000000000000000000000000:0000 0A 00000000:00000000
"""


def test_listening_sockets_of_both_families_are_found():
    assert ports_in(TABLE) == {3000, 8000}


@given(st.text())
def test_any_text_is_read_without_failing(table: str):
    ports_in(table)
