from collections.abc import Iterator

import pytest

from dialect_utils.execution import Worker


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    with Worker() as started:
        yield started
