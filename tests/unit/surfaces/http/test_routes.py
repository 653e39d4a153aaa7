from collections.abc import Iterator
from inspect import iscoroutinefunction

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from outlast.surfaces.http.api import all_routers


def calls_of(dependant: Dependant) -> Iterator[object]:
    yield dependant.call
    for each in dependant.dependencies:
        yield from calls_of(each)


def test_no_route_and_no_dependency_is_run_in_a_thread() -> None:
    routes = [route for router in all_routers() for route in router.routes if isinstance(route, APIRoute)]
    assert len(routes) > 150
    threaded = [call for route in routes for call in calls_of(route.dependant) if not iscoroutinefunction(call)]
    assert threaded == [], "FastAPI runs these in a thread for each request: say `async def`"
