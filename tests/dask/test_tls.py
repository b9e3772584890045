"""Encrypted connections: certificates given to the client, or by Dask's configuration."""

import subprocess
from collections.abc import Iterator
from shutil import which
from typing import Any

import distributed
import numpy as np
import pytest
from distributed.security import Security
from sklearn.datasets import load_diabetes
from tests.dask.clusters import open_cluster

import arboleda
import dask
from arboleda.dask import ClusterError, RandomForestRegressor
from arboleda.dask.clients import open_client

pytestmark = pytest.mark.skipif(which("openssl") is None, reason="needs openssl for certificates")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A certificate that is its own authority, and its key."""
    folder = tmp_path_factory.mktemp("certificates")
    made = {name: str(folder / f"{name}.pem") for name in ("certificate", "key")}
    wanted = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run(
        ["openssl", "req", *wanted, "-out", made["certificate"], "-keyout", made["key"]],
        check=True,
        capture_output=True,
    )
    return made


@pytest.fixture(scope="module")
def cluster(files: dict[str, str]) -> Iterator[Any]:
    roles = ("client", "scheduler", "worker")
    keys = {f"tls_{role}_cert": files["certificate"] for role in roles}
    keys |= {f"tls_{role}_key": files["key"] for role in roles}
    security = Security(require_encryption=True, tls_ca_file=files["certificate"], **keys)
    with open_cluster(
        1, threads_per_worker=2, processes=False, protocol="tls://", security=security
    ) as cluster:
        yield cluster


def check_fit(client: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(client=client, n_estimators=4, random_state=0).fit(X, y)
    here = arboleda.RandomForestRegressor(4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(forest.predict(X), here.predict(X))


def test_a_client_with_certificates(cluster: Any) -> None:
    assert cluster.scheduler_address.startswith("tls://")
    with distributed.Client(cluster, set_as_default=False) as client:
        check_fit(client)


def test_the_command_has_them_from_the_configuration(cluster: Any, files: dict[str, str]) -> None:
    address = cluster.scheduler_address
    with (
        pytest.raises(ClusterError, match="^There is no Dask scheduler at tls://"),
        open_client(address),
    ):
        pass
    given = {"ca-file": "certificate", "client.cert": "certificate", "client.key": "key"}
    options = {f"distributed.comm.tls.{key}": files[name] for key, name in given.items()}
    with dask.config.set(options), open_client(address) as client:
        check_fit(client)
