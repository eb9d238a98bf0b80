#!/usr/bin/env python3
"""Runs every query of the Grafana dashboard against a real Prometheus, which has the export from the node
exporter's folder of text files, as packaging/README.md says:

    e2e/exports/dashboard.py RUN.prom DASHBOARD.json

A query of a metric that the run has must give values; one that Prometheus does not take fails."""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

PATIENCE_S = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answer(port, query):
    """What Prometheus says to a query."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return json.load(response)
    except urllib.error.HTTPError as refusal:
        text = refusal.read().decode(errors="replace")
        return json.loads(text) if text.startswith("{") else {"status": "error", "error": text}
    except OSError as error:
        return {"status": "error", "error": str(error)}


def queries(dashboard):
    """The queries of all panels, and of the variable that names machines."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$instance", ".*")
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            values = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"])
            assert values, f"{variable['name']} asks in another way: {variable['query']}"
            yield f"variable {variable['name']}", f"count by ({values[2]}) ({values[1]})"


def serve(work, export):
    """Starts the node exporter and Prometheus; returns both, and the port of Prometheus."""
    ports = free_port(), free_port()
    texts = work / "texts"
    texts.mkdir()
    shutil.copy(export, texts / "oscope.prom")
    settings = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [{"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{ports[0]}"]}]}],
    }
    # JSON is YAML as well.
    (work / "prometheus.yml").write_text(json.dumps(settings))
    commands = [
        ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
         f"--collector.textfile.directory={texts}", f"--web.listen-address=127.0.0.1:{ports[0]}"],
        ["prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/data",
         f"--web.listen-address=127.0.0.1:{ports[1]}"],
    ]
    log = open(work / "log", "wb")
    return [subprocess.Popen(command, stdout=log, stderr=log) for command in commands], ports[1]


def main():
    export, dashboard = map(Path, sys.argv[1:])
    known = set(re.findall(r"^oscope_\w+", export.read_text(), re.MULTILINE))
    dashboard = json.loads(dashboard.read_text())
    with tempfile.TemporaryDirectory() as work:
        servers, port = serve(Path(work), export)
        try:
            until = time.monotonic() + PATIENCE_S
            while not answer(port, "oscope_run_start_timestamp_seconds").get("data", {}).get("result"):
                log = (Path(work) / "log").read_text()
                assert time.monotonic() < until, f"Prometheus never had the run: {log[-2000:]}"
                time.sleep(0.2)
            counts = {"answered": 0, "not measured": 0}
            for title, query in queries(dashboard):
                said = answer(port, query)
                assert said["status"] == "success", f"{title}: {query}: {said.get('error')}"
                is_known = set(re.findall(r"\boscope_\w+", query)) <= known
                assert said["data"]["result"] or not is_known, f"{title}: {query} gives nothing"
                counts["answered" if said["data"]["result"] else "not measured"] += 1
        finally:
            for server in servers:
                server.terminate()
                server.wait()
    assert counts["answered"] > 0, counts
    print(f"dashboard: Prometheus answers {counts['answered']} queries with values; "
          f"of {counts['not measured']} the run has no metric")


main()
