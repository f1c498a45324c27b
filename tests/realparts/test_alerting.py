"""The Prometheus kit before its own programs: promtool, amtool, and a Prometheus and an Alertmanager that run."""

import json
import re
import shutil
import subprocess
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from support.health_tree import NOW, observability, write_h0
from support.programs import program
from support.running import run
from support.servers import exporter, fetch, fetch_json, free_port, serving, until

pytestmark = pytest.mark.realpart

KIT: Final = Path(__file__).parents[2] / "examples" / "prometheus"
RULES: Final = KIT / "memory-health.rules.yml"
TESTS: Final = tuple(KIT / f"memory-health.rules.{name}test.yml" for name in ("", "days."))
DASHBOARD: Final = json.loads((KIT / "grafana-dashboard.json").read_text())
ALERTS: Final = {
    rule["alert"]: rule
    for group in yaml.safe_load(RULES.read_text())["groups"]
    for rule in group["rules"]
    if "alert" in rule
}  # fmt: skip


def said_by(*command: str | Path) -> tuple[int, str]:
    ended = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", timeout=60)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("promtool", ("check", "rules", RULES)),
        ("promtool", ("test", "rules", *TESTS)),
        ("promtool", ("check", "config", KIT / "prometheus.yml")),
        ("amtool", ("check-config", KIT / "alertmanager.yml")),
    ],
)
def test_the_tools_accept_the_kit(tool: str, arguments: tuple[str | Path, ...]) -> None:
    status, said = said_by(program(tool), *arguments)
    assert (status, "SUCCESS" in said) == (0, True), said


@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_is_tested_firing_and_silent(alert: str) -> None:
    tests = [test for file in TESTS for test in yaml.safe_load(file.read_text())["tests"]]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    assert {bool(case["exp_alerts"]) for case in cases if case["alertname"] == alert} == {True, False}


@pytest.mark.parametrize("expression", ["vector(1)", "vector(1) > 2"], ids=["always", "never"])
@pytest.mark.parametrize("alert", ALERTS)
def test_the_unit_tests_see_an_alert_that_fires_always_or_never(alert: str, expression: str, tmp_path: Path) -> None:
    rules = yaml.safe_load(RULES.read_text())
    (rule,) = [rule for group in rules["groups"] for rule in group["rules"] if rule.get("alert") == alert]
    rule["expr"] = expression
    (tmp_path / RULES.name).write_text(yaml.safe_dump(rules))
    copies = [Path(shutil.copy(file, tmp_path)) for file in TESTS]
    status, said = said_by(program("promtool"), "test", "rules", *copies)
    assert status != 0
    assert f"alertname: {alert}" in said


@pytest.mark.parametrize("alert", ALERTS)
def test_the_readme_names_every_alert_with_its_severity(alert: str) -> None:
    row = rf"^\| `{alert}` \| .* \| {ALERTS[alert]['labels']['severity']} \|$"
    assert re.search(row, (KIT / "README.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize(("severity", "receiver"), [("critical", "people-now"), ("warning", "people-today")])
def test_what_is_critical_goes_to_people_now(severity: str, receiver: str) -> None:
    arguments = ("config", "routes", "test", f"--config.file={KIT / 'alertmanager.yml'}", f"severity={severity}")
    status, said = said_by(program("amtool"), *arguments)
    assert (status, said.splitlines()[0]) == (0, receiver)


def expressions() -> list[str]:
    """Every expression of the dashboard."""
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def test_prometheus_can_parse_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{place}", "expr": one} for place, one in enumerate(expressions())]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    status, said = said_by(program("promtool"), "check", "rules", file)
    assert (status, f"{len(rules)} rules found" in said) == (0, True), said


def test_the_kit_asks_for_no_series_that_is_not_written(tmp_path: Path) -> None:
    run("--memory-root", tmp_path, "--no-write", "--textfile", tmp_path / "x.prom")
    written = set(re.findall(r"^# TYPE (memory_health_\w+)", (tmp_path / "x.prom").read_text(), re.MULTILINE))
    asked = set(
        re.findall(
            r"\bmemory_health_\w+", " ".join([*expressions(), RULES.read_text(), *(file.read_text() for file in TESTS)])
        )
    )
    assert asked - written == set()


def test_the_dashboard_has_a_fixed_uid_and_takes_its_source_from_a_variable() -> None:
    assert DASHBOARD["uid"] == "memory-health"
    names = {variable["name"]: variable["type"] for variable in DASHBOARD["templating"]["list"]}
    assert names == {"datasource": "datasource", "instance": "query", "memory": "query"}
    sources = [part["datasource"] for panel in DASHBOARD["panels"] for part in (panel, *panel["targets"])]
    assert sources == [{"type": "prometheus", "uid": "${datasource}"}] * len(sources)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def publish(folder: Path, exit_code: int, *, damage: str | None = None) -> Path:
    """Publish a green memory's verdict, or that of one from which a log is gone; return the metrics' folder."""
    write_h0(folder / "R")
    if damage is not None:
        (observability(folder / "R") / damage).write_bytes(b"{")
    metrics = folder / "metrics"
    metrics.mkdir()
    ended = run("--root", folder / "R", "--now", str(NOW), "--no-write", "--textfile", metrics / "memory.prom")
    assert ended.exit_code == exit_code
    return metrics


def configuration(folder: Path, targets: list[str]) -> Path:
    """Write the example's configuration, in a hurry and with these hosts."""
    config = yaml.safe_load((KIT / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms", "scrape_timeout": "400ms"}
    config["rule_files"] = [str(RULES)]
    config["scrape_configs"][0]["static_configs"][0]["targets"] = targets
    del config["alerting"]
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(config))
    return file


def test_a_prometheus_over_three_exporters_fires_for_the_critical_memory_alone(tmp_path: Path) -> None:
    server = program("prometheus")
    hosts = {"ok": (None, 0), "warn": ("memory-retrievals.jsonl", 1), "critical": ("reviewer-runs.jsonl", 2)}
    with ExitStack() as stack:
        addresses = {}
        for name, (damage, exit_code) in hosts.items():
            (tmp_path / name).mkdir()
            folder = publish(tmp_path / name, exit_code, damage=damage)
            addresses[name], process = stack.enter_context(exporter(folder))
            fetch(f"http://{addresses[name]}/metrics", process)
        address = f"127.0.0.1:{free_port()}"
        command = [server, f"--config.file={configuration(tmp_path, list(addresses.values()))}"]
        command += [f"--storage.tsdb.path={tmp_path / 'data'}", f"--web.listen-address={address}"]
        process = stack.enter_context(serving(command))

        def firing() -> list[dict[str, Any]] | None:
            alerts = fetch_json(f"http://{address}/api/v1/alerts", process)["data"]["alerts"]
            return [alert["labels"] for alert in alerts if alert["state"] == "firing"] or None

        fired = until(firing, process, "no alert fires")
        assert [(alert["alertname"], alert["instance"], alert["memory"]) for alert in fired] == [
            ("MemoryHealthCritical", addresses["critical"], "default")
        ]

        def counted() -> list[int] | None:
            query = "count(memory_health_status) or vector(0)"
            answer = fetch_json(f"http://{address}/api/v1/query?query={urllib.request.quote(query)}", process)
            return [1] if answer["data"]["result"][0]["value"][1] == "3" else None

        assert until(counted, process, "not all three hosts are seen")


def alert(name: str, severity: str, **labels: str) -> dict[str, Any]:
    return {"labels": {"alertname": name, "severity": severity, "memory": "default", **labels}}


def test_an_alertmanager_tells_no_more_than_is_needed(tmp_path: Path) -> None:
    server = program("alertmanager", "prometheus-alertmanager")
    address = f"127.0.0.1:{free_port()}"
    command = [server, f"--config.file={KIT / 'alertmanager.yml'}", f"--web.listen-address={address}"]
    command += [f"--storage.path={tmp_path}", "--cluster.listen-address="]
    posted = [
        alert("MemoryHealthCritical", "critical", instance="a"),
        alert("MemoryHealthWarningForLong", "warning", instance="a"),
        alert("MemoryHealthWarningForLong", "warning", instance="b"),
        alert("MemoryHealthTextfileError", "critical", instance="c"),
        alert("MemoryHealthAbsent", "critical", instance="c"),
    ]
    with serving(command) as process:
        fetch(f"http://{address}/-/ready", process)
        request = urllib.request.Request(
            f"http://{address}/api/v2/alerts", json.dumps(posted).encode(), {"Content-Type": "application/json"}
        )
        urllib.request.urlopen(request, timeout=10).close()

        def settled() -> dict[tuple[str, str], str] | None:
            alerts = fetch_json(f"http://{address}/api/v2/alerts", process)
            states = {(one["labels"]["alertname"], one["labels"]["instance"]): one["status"]["state"] for one in alerts}
            return states if len(states) == len(posted) and "unprocessed" not in states.values() else None

        states = until(settled, process, "the alerts are not taken")
    assert {key for key, state in states.items() if state == "suppressed"} == {
        ("MemoryHealthWarningForLong", "a"),
        ("MemoryHealthAbsent", "c"),
    }
