"""Batches on a Dask cluster; `make scale` adds an S3 server, three worker processes, and one that is killed."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from dialect_utils.io.inputs import named_input
from dialect_utils.io.remote import existing_urls, read_url, write_url
from relayout.batch import cluster as machines
from relayout.batch.cluster import run_on_cluster
from relayout.batch.results import from_parquet
from relayout.batch.unit import Unit
from relayout.cli import main
from relayout.command import Job
from relayout.commands.opt import Opt
from tests.relayout.batch.conftest import MODULE

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

# Dask's own threads and sockets end at any time.
pytestmark = pytest.mark.filterwarnings("ignore")

COUNT = int(os.environ.get("RELAYOUT_SCALE", "0"))
_WORKERS = 3


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp"
    ) as started:
        yield started


def test_a_cluster_prints_what_one_process_prints(
    cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(20):
        (tmp_path / f"m{number:02}.hlo").write_text(MODULE.format(number, number + 4))
    (tmp_path / "m03.hlo").write_text("HloModule broken\n")
    (tmp_path / "m04.hlo").chmod(0)
    command = ["opt", *sorted(map(str, tmp_path.iterdir())), str(tmp_path / "absent.hlo"), "-p", "expand-tiling"]
    assert main([*command, "--jobs", "1"]) == 2
    expected = capfd.readouterr()
    assert main([*command, "--cluster", cluster.scheduler_address]) == 2
    assert capfd.readouterr() == expected


def test_a_module_that_ends_two_processes_is_given_up(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "_MODULE", "tests.relayout.batch.planted_worker")
    names = ["a", "dies", "dies-once", "b"]
    units = [Unit((named_input(str(tmp_path / name)),)) for name in names]
    results = list(run_on_cluster(Job(Opt()), units, cluster.scheduler_address))
    assert [result.output.decode().strip() for result in results] == ["a", "", "dies-once", "b"]
    assert b"2 worker processes ended" in results[1].diagnostics


def test_what_a_cluster_cannot_do_is_refused(cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(MODULE.format(0, 4))
    address = cluster.scheduler_address
    for arguments, message in (
        (["--cluster", address, "-o", str(tmp_path / "out.hlo")], "is on this machine"),
        (["--cluster", address, "--jobs", "2"], "leave one of them out"),
        (["--cluster", "tcp://127.0.0.1:nowhere"], "--cluster tcp://127.0.0.1:nowhere"),
    ):
        assert main(["opt", str(file), *arguments]) == 2
        assert message in capfd.readouterr().err


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yields a bucket of an S3 server on this machine."""
    server_module = pytest.importorskip("moto.server", reason="moto is not installed")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
        ("AWS_ACCESS_KEY_ID", "nobody"),
        ("AWS_SECRET_ACCESS_KEY", "nothing"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    from fsspec.core import url_to_fs

    url_to_fs("s3://dumps")[0].mkdir("dumps")
    yield "s3://dumps"
    server.stop()


@pytest.mark.skipif(COUNT == 0, reason="make scale runs it")
def test_nothing_is_lost_or_doubled_where_a_worker_is_killed(bucket: str) -> None:
    with ThreadPoolExecutor(8) as writers:
        for number in range(COUNT):
            text = MODULE.format(number, number % 97 + 4)
            writers.submit(write_url, f"{bucket}/dump/module_{number:04}.m.before_optimizations.txt", text.encode())
    results = f"{bucket}/table.parquet"
    command = ["opt", f"{bucket}/dump/*.txt", "-p", "expand-tiling", "--results", results]
    with distributed.LocalCluster(
        n_workers=_WORKERS, threads_per_worker=1, processes=True, dashboard_address=None
    ) as started:
        killed: list[int] = []
        killer = threading.Thread(target=_kill_one_in_the_middle, args=(started, killed))
        killer.start()
        start = time.perf_counter()
        assert main([*command, "--cluster", started.scheduler_address]) == 0
        seconds = time.perf_counter() - start
        killer.join()
        assert len(killed) == 1
        rows = _rows(results)
        assert [row["name"] for row in rows] == existing_urls(f"{bucket}/dump/*.txt")
        assert len(rows) == COUNT
        assert all(row["exit_code"] == 0 and f"HloModule m{n}\n" in row["output"] for n, row in enumerate(rows))
        # A second run skips all modules.
        assert main([*command, "--cluster", started.scheduler_address, "--resume"]) == 0
        assert _rows(results) == rows
    assert existing_urls(f"{results}.part-*") == []
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(f"{COUNT} modules in {seconds:.1f} s, with {cpu:.1f} CPU seconds of workers, both runs", file=sys.stderr)


def _kill_one_in_the_middle(cluster: Any, killed: list[int]) -> None:
    """Kills a worker once a third of the modules is done; its nanny starts another."""
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        while (done := _done(client)) < COUNT // 3:
            time.sleep(0.05)
        worker = next(iter(client.run(os.getpid).values()))
        os.kill(worker, signal.SIGKILL)
        if done < COUNT:
            killed.append(worker)


def _done(client: Any) -> int:
    def count(dask_scheduler: Any) -> int:
        return sum(
            group.states["memory"] + group.states["released"] + group.states["forgotten"]
            for group in dask_scheduler.task_groups.values()
        )

    found: int = client.run_on_scheduler(count)
    return found


def _rows(results: str) -> list[dict[str, Any]]:
    return from_parquet(read_url(results))
