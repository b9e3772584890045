"""Workers of another environment, and clients that cannot be used, are refused in one sentence."""

from typing import Any

import distributed
import pytest

from arboleda.dask import ClusterError, handshake
from arboleda.dask.clients import check_address
from arboleda.dask.handshake import check_versions, check_workers, read_versions
from arboleda.dask.tasks import check_client
from arboleda.study import OptionError, Study


def test_a_worker_with_another_version_is_named(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_workers(client)
    wanted = {**read_versions(), "sklearn": "0.1"}
    monkeypatch.setattr(handshake, "read_versions", lambda: wanted)
    theirs = {**read_versions()}["sklearn"]
    with pytest.raises(
        ClusterError, match=rf"^The worker tcp://\S+ has scikit-learn {theirs}, this .* has 0\.1;"
    ):
        check_workers(client)


@pytest.mark.parametrize("name", ["Python", "arboleda", "numpy", "scipy", "compiled module"])
def test_every_version_counts(name: str) -> None:
    wanted = read_versions()
    with pytest.raises(ClusterError, match="^The worker w has "):
        check_versions("w", {**wanted, name: "0"}, wanted)


def test_compiled_modules_are_compared_between_machines_of_one_kind() -> None:
    wanted = read_versions()
    check_versions("w", {**wanted, "machine": "other", "compiled module": "0"}, wanted)


def test_unusable_clients_are_refused() -> None:
    with pytest.raises(ClusterError, match="must be a distributed.Client, got str; make one"):
        Study("iris", target="target", client="tcp://scheduler:8786")
    with pytest.raises(ClusterError, match="^There is no Dask client; pass client="):
        check_client(None)


def test_no_workers_are_a_sentence() -> None:
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(ClusterError, match="has no workers; start one, as in dask worker"),
    ):
        check_workers(client, patience=0.1)


def test_addresses() -> None:
    assert check_address("local:4") == 4
    assert check_address("tls://host:8786") is None
    for wrong in ("local:0", "local", "host:8786", "tcp://", "tcp://a b"):
        with pytest.raises(OptionError, match="--dask must be the address"):
            check_address(wrong)
