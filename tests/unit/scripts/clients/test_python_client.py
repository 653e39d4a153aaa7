"""The methods of the Python client, as they are generated from the operations of the API."""

import inspect

from outlast_client import AsyncClient, Client, async_operations
from outlast_client import operations as sync_operations
from scripts.clients.operations import PLACES, operations
from scripts.contract.schemas import openapi_schema


def test_each_operation_is_a_method_of_both_clients() -> None:
    for one in operations():
        for client in (Client(), AsyncClient()):
            assert callable(getattr(getattr(client, one.group), one.name)), one.place


def test_no_two_operations_are_one_method() -> None:
    places = [one.place for one in operations()]
    assert len(set(places)) == len(places)


def test_each_place_that_is_named_by_hand_is_one_of_an_operation() -> None:
    ids = {one["operationId"] for path in openapi_schema()["paths"].values() for one in path.values()}
    assert PLACES.keys() <= ids


def test_both_clients_take_the_same_arguments() -> None:
    for one in operations():
        of = [
            inspect.signature(getattr(getattr(client, one.group), one.name)).parameters
            for client in (Client(), AsyncClient())
        ]
        assert list(of[0]) == list(of[1]), one.place


def test_generated_modules_name_the_shapes_only() -> None:
    for module in (sync_operations, async_operations):
        assert "outlast." not in inspect.getsource(module).replace("outlast_client.", "")
