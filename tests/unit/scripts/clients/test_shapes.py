"""The shapes that clients are generated from."""

from scripts.clients import typescript
from scripts.clients.names import NAMES
from scripts.clients.shapes import Shape, events, shapes
from scripts.contract.schemas import event_schema, openapi_schema

SHAPES = {shape.name: shape for shape in shapes()}


def test_no_two_shapes_have_one_name() -> None:
    assert len(SHAPES) == len(shapes())


def test_each_model_that_has_another_name_for_clients_exists() -> None:
    models = event_schema()["$defs"].keys() | openapi_schema()["components"]["schemas"].keys()
    assert NAMES.keys() <= models


def test_an_answer_has_all_of_its_properties_also_those_with_a_default() -> None:
    assert all(one.required for one in SHAPES["Thread"].properties)


def test_a_request_may_leave_out_what_has_a_default() -> None:
    required = {one.name: one.required for one in SHAPES["StartRun"].properties}
    assert required["on_busy"] is False


def test_each_event_has_the_shape_of_its_data() -> None:
    assert dict(events())["text.delta"] == "Delta"
    assert {data for _, data in events()} <= SHAPES.keys()


def test_a_description_cannot_end_the_comment_that_it_stands_in() -> None:
    text = "\n".join(typescript.interface(Shape("Glob", "Files as `src/*/a.ts`.", ())))
    assert text.count("*/") == 1


def test_unions_go_by_their_names_in_typescript() -> None:
    text = typescript.write()
    assert "export type RunStatus = 'queued' | 'running'" in text
    assert "  status: RunStatus\n" in text
    assert "  parts: Part[]\n" in text
