"""`assay why`: the steps of a change in the terminal and as data, and what has none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.compare_reference import CARDANO
from tests.support.cometbft import RUN as COMETBFT
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT

RUNS = (f"10.5={CARDANO / 'baseline' / 'run'}", f"10.6={CARDANO / 'candidate' / 'run'}")
TOTAL = "cdfForgerAnnounceCum"


def why(cache: Path, *arguments: str | Path, cwd: Path = ROOT) -> CommandResult:
    return run_assay("--cache", cache, "why", *arguments, cwd=cwd)


TABLE = """\
10.6 against 10.5: Slot start to announced

                                  10.5    10.6    Δ ms  share  95 % interval    verdict
  Started forge loop iteration   1.003   1.159  +0.156    2 %  0.0 … +0.3       cannot tell
  Acquired block context         0.079   0.095  +0.016    0 %  +0.004 … +0.03   worse
  Acquired ledger state          0.096   0.116  +0.020    0 %  +0.01 … +0.03    worse
  Acquired ledger view           0.029   0.044  +0.014    0 %  +0.010 … +0.019  worse
  Leadership check duration      0.427   0.576  +0.149    2 %  +0.08 … +0.21    worse
  Ledger ticking                26.572  34.987  +8.415   87 %  +2 … +15         worse
  Mempool snapshotting           1.520   2.057  +0.537    6 %  +0.3 … +0.8      worse
  Leadership to forged           0.788   0.940  +0.152    2 %  +0.04 … +0.3     worse
  Forged to announced            0.792   1.005  +0.213    2 %  +0.1 … +0.3      worse
  Slot start to announced       31.306  40.978  +9.672  100 %  +3 … +16         worse

Slot start to announced +9.7 ms (31.3 → 41.0 ms, worse): 87 % of it is Ledger ticking (26.6 → 35.0 ms, worse).
Slot start to announced +9.7 ms (31.3 → 41.0 ms, worse): nothing stands out among the parts of the run.
Intervals hold what varies within these runs (batches of time, hosts). How much a run differs from the next is not \
known: there are too few repeats.
"""


def test_table_names_the_cause(cache: Path) -> None:
    result = why(cache, TOTAL, *RUNS)
    table, noise = TABLE.rstrip().rsplit("\n", 1)
    lines = result.out.removeprefix(table).splitlines()
    expected = "report: cardano/comparison; filters: unitary; average: published\n"
    assert (result.status, result.out.startswith(table), lines[-1], result.err) == (0, True, noise, expected)
    assert lines[2] == "Rows of Ledger ticking:"
    samples = [line.split(" s ")[0].strip() for line in lines[3:-1] if not line.startswith("     ")]
    assert samples == [
        "10.5 typical: 0.0257009", "10.5 worst: 0.0482449", "10.6 typical: 0.0318257", "10.6 worst: 0.0789371",
    ]  # fmt: skip


def test_json_has_exact_sums(cache: Path) -> None:
    data = why(cache, TOTAL, *RUNS, "--format", "json").parse_json()
    assert (data["metric"], data["unit"], data["base"], data["report"]) == (TOTAL, "s", "10.5", "cardano/comparison")
    (version,) = data["versions"]
    assert version["rows"] == {"base": 56, "value": 64, "base_complete": 56, "value_complete": 64}
    assert (version["incomplete"], version["run"]) == (None, "10.6")
    total, steps = version["total"], version["steps"]
    for name in ("base_sums", "value_sums"):
        assert [sum(items) for items in zip(*(step[name] for step in steps), strict=True)] == total[name]
    assert total["value"] == float(Fraction(total["value_sums"][0], 64 * 10**9))
    assert sum(step["share"] for step in steps) == pytest.approx(1)
    cause = next(step for step in steps if step["id"] == version["cause"])
    assert (cause["metric"], cause["from"], cause["to"], cause["verdict"]) == (
        "cdfForgerTicked", "leading", "ticked", "worse",
    )  # fmt: skip
    assert round(100 * cause["share"]) == 87
    assert version["sentence"] == TABLE.splitlines()[-3]


def test_steps_of_a_run_against_itself_name_nothing(cache: Path) -> None:
    result = why(cache, TOTAL, RUNS[0], f"again={CARDANO / 'baseline' / 'run'}")
    assert result.out.splitlines()[-2] == "Slot start to announced: same, so no step is named."


def test_grain_without_total_is_explained_by_its_name(cache: Path) -> None:
    lines = why(cache, "slot", *RUNS, "--summary", "mean-of-hosts").out.splitlines()
    assert lines[0] == "10.6 against 10.5: Slot start to decided"
    assert lines[-3].endswith("68 % of it is Forge loop tardiness (1.21 → 1.56 ms, worse).")


ADOPTION = """\
  Ledger ticking                 26.57   34.99   +8.42   29 %  +2 … +15         worse
  Mempool snapshotting            1.52    2.06   +0.54    2 %  +0.3 … +0.8      worse
  Leadership to forged            0.79    0.94   +0.15    1 %  +0.04 … +0.3     worse
  rest: forged to noticed        60.67   62.19   +1.52    5 %  -9 … +12         cannot tell
  Notice to fetch request         1.34    1.79   +0.45    2 %  +0.2 … +0.7      worse
  Fetch duration                 53.08   56.64   +3.56   12 %  -2 … +9          cannot tell
  Fetched to adopted             54.42   68.42  +13.99   48 %  +6 … +22         worse
  0.80 adoption                 200.02  229.01  +28.99  100 %  +17 … +41        worse

0.80 adoption +29 ms (200 → 229 ms, worse): no single step explains it; 48 % of it is Fetched to adopted \
(54.4 → 68.4 ms, worse).
"""


def test_statistic_has_the_steps_of_the_rows_that_it_chooses(cache: Path) -> None:
    """First those of the forger of a block, then those of the host that adopted it as one of the last of 80 %."""
    out = why(cache, "cdf0.80", *RUNS).out
    assert ADOPTION in out
    data = why(cache, "cdf0.80", *RUNS, "--format", "json").parse_json()
    (version,) = data["versions"]
    assert [item["from"] for item in version["steps"]][-5:] == [
        "block.snapshot", "block.forged", "observation.noticed", "observation.requested", "observation.fetched",
    ]  # fmt: skip
    for name in ("base_sums", "value_sums"):
        sums = [sum(items) for items in zip(*(step[name] for step in version["steps"]), strict=True)]
        assert sums == version["total"][name]


@pytest.mark.parametrize(("metric", "share"), [("cdfPeerNoticeFirst", "75 %"), ("cdfPeerFetchFirst", "57 %")])
def test_least_of_several_rows_has_the_steps_of_one(metric: str, share: str, cache: Path) -> None:
    assert f"{share} of it is Ledger ticking (26.6 → 35.0 ms, worse)." in why(cache, metric, *RUNS).out


def test_new_workspace_is_explained(cache: Path, tmp_path: Path) -> None:
    assert run_assay("init", tmp_path / "shop").status == 0
    lines = why(cache, "request", "1.0", "1.1", cwd=tmp_path / "shop").out.splitlines()
    ending = "(29.3 → 21.9 ms, better): 92 % of it is Working time (24.4 → 17.6 ms, better)."
    assert any(line.endswith(ending) for line in lines)


def test_proposed_workspace_is_explained(cache: Path, tmp_path: Path) -> None:
    logs = [
        ROOT / "starter" / "runs" / run / host / "log.jsonl" for run in ("1.0", "1.1") for host in ("web-1", "web-2")
    ]
    assert run_assay("init", tmp_path / "shop", "--from", *logs).status == 0
    out = why(cache, "request_received_to_response_sent", "1.0", "1.1", cwd=tmp_path / "shop").out
    assert "92 % of it is Work started to response sent (24.4 → 17.6 ms, better)." in out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("cdfForgerAnounceCum", *RUNS), "did you mean `cdfForgerAnnounceCum`"),
        (("nonsense", *RUNS, "--system", "cardano"), "`assay why` explains `cdf0.50`, `cdf0.80`, `cdf0.90`"),
        (("slot", *RUNS), "`slot` has no steps: the average `published` is over the lowest of some hosts"),
        (("txsAcceptedShare", *RUNS), "hint: explain an input: `assay why txsAccepted`"),
        ((TOTAL, RUNS[0]), "a comparison needs two or more runs"),
    ],
)
def test_what_has_no_steps_is_refused(arguments: tuple[str, ...], expected: str, cache: Path) -> None:
    result = why(cache, *arguments)
    assert (result.status, result.out) == (2, "")
    assert expected in result.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("CentiCpu", *RUNS), "Process CPU usage +2.32 % (7.53 → 9.86 %, worse): nothing stands out among 6 hosts and"),
        (("CentiCpu", *RUNS), "It has no steps: it is no difference of two instants of its rows."),
        (("cdfForgerSend", *RUNS), "It has no steps: several chains of metrics are equally long."),
        (("cdfForgerTicked", *RUNS), "It has no steps: no other metric measures a part of it."),
        (("latency", f"a={COMETBFT}", f"b={COMETBFT}"), "same), so no host, value or time is named."),
    ],
)
def test_metric_without_steps_is_located(arguments: tuple[str, ...], expected: str, cache: Path) -> None:
    result = why(cache, *arguments)
    assert result.status == 0
    assert expected in result.out
