"""Let workers fill the cache before a command reads logs and computes results itself."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from assay.app.session.cache_filler import DiscoveredFiles
from assay.app.session.cluster_settings import ClusterSettings
from assay.app.session.ingester import prefix_run_name
from assay.app.session.session import Session
from assay.app.session.stages import log_facts
from assay.engine.executor import SQL
from assay.engine.host_plan import HostPlan, plan_hosts
from assay.engine.job import Job
from assay.engine.key_plan import KeyPlan, plan_key
from assay.engine.partitions import iter_partitions
from assay.engine.portion_plan import (
    PortionPlan,
    count_partitions,
    plan_cells,
    plan_host_portions,
    plan_key_portions,
    plan_rest,
    plan_whole,
)
from assay.engine.portions import OWN_KIND, Partition, Portion, has_joined_files, join_portions, remove_portions
from assay.engine.result_cache import Store
from assay.ingest.absent_files import is_absent
from assay.ingest.discovery import HostFiles
from assay.ingest.hashing import MEMO, store_hashes
from assay.ingest.readers.protocol import find_batch_reader
from assay.lang.checked_package import CheckedPackage
from assay.remote.address import is_address
from assay.remote.mirror import read_versions
from assay.runs.model import IngestedRun
from assay.util import atomic
from assay.util.diagnostics import AssayError, fail
from assay.util.paths import resolve_path
from assay_cluster.cluster import Cluster, open_cluster
from assay_cluster.entry_storage import open_entry_storage
from assay_cluster.listing import Publisher
from assay_cluster.progress import TaskProgress
from assay_cluster.queue_files import FOREIGN_HINT
from assay_cluster.sample import choose_sample, plan_comparison
from assay_cluster.task import (
    COMPUTE,
    READ,
    TOKENS_KIND,
    VERIFY,
    Outcome,
    Requirements,
    Task,
    create_requirements,
    read_secret,
)

MEGABYTE = 1_000_000
HOSTS, WHOLE, KEY, CELLS, REST = "hosts", "whole", "key", "cells", "rest"  # stages, in their order
MOST_LOSSES = 20  # of a portion that other builds remove
LEAST_PORTIONS = 8  # of a run that has that many hosts


@contextmanager
def open_filler(session: Session, settings: ClusterSettings) -> Iterator[Session]:
    """Yield a session whose cache is filled by the workers of a cluster.

    Raises AssayError (usage) if the address is invalid or nothing answers there.
    """
    cluster = open_cluster(settings, session.notice)
    try:
        filler = ClusterFiller(cluster, settings, session)
    except BaseException:
        cluster.close()
        raise
    try:
        yield replace(session, filler=filler)
    finally:
        cluster.close()
        filler.close()


@dataclass(frozen=True, slots=True)
class _PlannedRun:
    """A run that workers compute: its statements, the bytes of each host's logs, and the hosts of each portion."""

    job: Job
    host_plan: HostPlan
    key_plan: KeyPlan | None
    folders: Sequence[Path]
    sizes: Mapping[str, int]
    groups: Sequence[tuple[str, ...]]
    sample: Partition

    @property
    def partitions(self) -> list[Partition]:
        """Return the partitions of the run."""
        return [Partition(hosts) for hosts in self.groups]

    def cut(self, stage: str, plan: PortionPlan, joined: PortionPlan | None = None) -> _Batch:
        """Return the work on all hosts; with `joined`, some of its tables are those of the portions of this plan."""
        (sample,) = plan.cut(self.folders, [self.sample])
        return _Batch(stage, plan, plan.cut(self.folders, self.partitions, joined), sample, self.sizes)

    def cut_by_key(self, plan: PortionPlan, key: str, store: Store) -> _Batch:
        """Return the work on all values of a key."""
        count = count_partitions(plan, store, self.folders)
        if count < 2:
            return self.leave_whole(KEY, plan)
        other = Partition(key=key, number=Random(self.job.raw).randrange(count + 1), count=count + 1)
        (sample,) = plan.cut(self.folders, [other])
        partitions = [Partition(key=key, number=number, count=count) for number in range(count)]
        return _Batch(KEY, plan, plan.cut(self.folders, partitions), sample, self.sizes)

    def leave_whole(self, stage: str, plan: PortionPlan) -> _Batch:
        """Return the work on the run as a whole."""
        return _Batch(stage, plan, plan.cut(self.folders, [Partition()]), None, self.sizes)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Portions of a run that are computed at once, and the sample that is computed once more, if there are several."""

    stage: str
    plan: PortionPlan
    portions: Sequence[Portion]
    sample: Portion | None
    sizes: Mapping[str, int]

    def list_entries(self) -> list[Portion]:
        """Return the portions and the sample."""
        return [*self.portions, *([self.sample] if self.sample else [])]


class ClusterFiller:
    """Fills the cache by tasks for workers. What workers cannot do is left to the command."""

    def __init__(self, cluster: Cluster, settings: ClusterSettings, session: Session) -> None:
        self._cluster = cluster
        self._storage = open_entry_storage(session.store, session.storage)
        self._publisher = Publisher(self._storage, session.store)
        self._portion = int(settings.portion * MEGABYTE)
        self._requirements: dict[str, Requirements] = {}
        self._secrets: dict[str, str] = {}  # by token
        self._split_tables: set[str] = set()  # keys
        self._store = session.store
        self._numbers = itertools.count(1)

    def cancel(self) -> None:
        """Let the command end: workers start no further task."""
        self._cluster.cancel()

    def close(self) -> None:
        """Remove what only this build needs: portions, and the files by which workers recognize the cache."""
        self._publisher.close()
        for item in self._requirements.values():
            with contextlib.suppress(OSError):
                atomic.discard(self._store.folder, self._store.get_path(OWN_KIND, item.token))
        self._storage.remove([(TOKENS_KIND, item.token) for item in self._requirements.values()])

    @property
    def reads_objects(self) -> bool:
        """Return whether workers read logs on object storage there: if the cache is there, too."""
        return bool(self._storage.address)

    def read_logs(self, session: Session, checked: CheckedPackage, items: Sequence[DiscoveredFiles]) -> None:
        """Let workers hash and read the logs of runs, some hosts a task; store the hashes."""
        tasks: dict[str, tuple[DiscoveredFiles, Task]] = {}
        for item in items:
            if find_batch_reader(item.source.kind) is None:
                reason = f"sources of the kind {item.source.kind} are read as a whole"
                log_facts("left", run=item.run.id, source=item.source.name, reason=reason)
                continue
            if self.reads_objects and item.run.address and not is_address(item.run.address):
                reason = "archives are unpacked by the coordinator"
                log_facts("left", run=item.run.id, source=item.source.name, reason=reason)
                continue
            for hosts in self._cut([(host.host, host.size) for host in item.files.hosts]):
                task = self._create_read_task(session, checked, item, hosts)
                tasks[task.name] = (item, task)
        if not tasks:
            return
        memo = session.store.folder / MEMO
        for outcome in self._map(session, [task for _, task in tasks.values()]):
            item, task = tasks[outcome.task]
            with prefix_run_name(item.run, item.source):
                outcome.raise_problems()
            try:
                entries, hashes = [*map(tuple, outcome.body["entries"])], _collect_hashes(item, task, outcome)
            except (KeyError, TypeError, ValueError):
                message = f"the result of the task {task.name} has another form than that of this version of Assay"
                raise fail("queue-file", message, hint=FOREIGN_HINT) from None
            self._storage.pull(session.store, entries)
            store_hashes(memo, hashes)

    def compute_results(
        self, session: Session, checked: CheckedPackage, jobs: Sequence[Job], runs: Sequence[IngestedRun]
    ) -> None:
        """Let workers compute the statements that need some hosts at a time, verify a sample, and join the portions."""
        planned_runs: list[_PlannedRun] = []
        plans_by_graph: dict[int, tuple[HostPlan, KeyPlan | None]] = {}
        for job, run in zip(jobs, runs, strict=True):
            if id(job.graph) not in plans_by_graph:
                host_plan = plan_hosts(job.graph, checked)
                plans_by_graph[id(job.graph)] = host_plan, plan_key(job.graph, checked, host_plan)
                _log_plan(job, *plans_by_graph[id(job.graph)])
            if planned_run := self._plan_run(job, *plans_by_graph[id(job.graph)], run):
                planned_runs.append(planned_run)
        store = session.store
        plans = [plan_host_portions(run.job, run.host_plan, store) for run in planned_runs]
        self._compute(
            session, checked, [run.cut(HOSTS, plan) for run, plan in zip(planned_runs, plans, strict=True) if plan]
        )
        wholes = [
            plan_whole(plan, run.host_plan, run.key_plan, store) for run, plan in zip(planned_runs, plans, strict=True)
        ]
        batches = [run.leave_whole(WHOLE, plan) for run, plan in zip(planned_runs, wholes, strict=True) if plan]
        self._compute(session, checked, batches, may_fail=True)
        batches = []
        for planned_run, plan, whole in zip(planned_runs, plans, wholes, strict=True):
            cells = plan_cells(whole, planned_run.host_plan, store)
            batches += [planned_run.cut(CELLS, cells, self._select_split_tables(plan))] if cells else []
            by_key = plan_key_portions(whole, planned_run.key_plan, store) if planned_run.key_plan else None
            batches += (
                [planned_run.cut_by_key(by_key, planned_run.key_plan.key, store)]
                if by_key and planned_run.key_plan
                else []
            )
        self._compute(session, checked, batches, may_fail=True)
        batches = [
            planned_run.leave_whole(REST, plan)
            for planned_run, whole in zip(planned_runs, wholes, strict=True)
            for plan in plan_rest(whole, store)
        ]
        self._compute(session, checked, batches, may_fail=True)

    def _compute(
        self, session: Session, checked: CheckedPackage, batches: Sequence[_Batch], *, may_fail: bool = False
    ) -> None:
        """Let workers compute portions, verify the samples, and join the portions.

        With `may_fail`, batches with a statement that fails are left to the command, which reports the first failure.
        """
        failed = self._compute_portions(session, checked, batches, may_fail=may_fail)
        own_batches = [
            self._take_portions(session, checked, batch) for batch in batches if not any(batch is it for it in failed)
        ]
        try:
            verifications = [
                self._create_verify_task(session, checked, batch, batch.sample) for batch in own_batches if batch.sample
            ]
            for outcome in self._map(session, verifications):
                outcome.raise_problems()
            for batch in own_batches:
                with contextlib.suppress(*([AssayError] if may_fail else [])):
                    join_portions(batch.plan, batch.portions, session.store)
                    self._publisher.publish_joined_tables(batch.plan, batch.portions)
                    self._note_files(session.store, batch)
        finally:  # also after a difference: these entries are wrong
            for batch in (*batches, *own_batches):
                remove_portions(batch.list_entries(), session.store)

    def _compute_portions(
        self, session: Session, checked: CheckedPackage, batches: Sequence[_Batch], *, may_fail: bool
    ) -> list[_Batch]:
        """Let workers compute portions, and copy them for this build; return the batches with a statement that failed.

        Another build may remove a portion that both need as soon as it has joined it: then it is computed again.
        """
        place, failed = self._get_own_kind(session, checked), list[_Batch]()
        missing = [
            (batch, portion)
            for batch in batches
            for portion in batch.list_entries()
            if self._storage.address or not self._publisher.copy_portion(portion, place)
        ]
        for _ in range(MOST_LOSSES):
            tasks = {
                task.name: (task, batch, portion)
                for batch, portion in missing
                for task in [self._create_compute_task(session, checked, portion, batch)]
            }
            missing = []
            for outcome in self._map(session, [task for task, _, _ in tasks.values()]):
                _, batch, portion = tasks[outcome.task]
                if may_fail and [item.code for item in outcome.problems] == [SQL]:
                    failed.append(batch)
                    continue
                outcome.raise_problems()
                if not self._publisher.copy_portion(portion, place):
                    missing.append((batch, portion))
            if not missing:
                return failed
        path = session.store.get_path(*missing[0][1].entry)
        raise fail("cache", f"an entry of the cache is lost whenever it was computed: {path}",
                   hint="end other builds that use this cache, then build again")  # fmt: skip

    def _get_own_kind(self, session: Session, checked: CheckedPackage) -> str:
        """Return the kind of entries that only this build reads and removes."""
        return f"{OWN_KIND}/{self._require(session, checked).token}"

    def _take_portions(self, session: Session, checked: CheckedPackage, batch: _Batch) -> _Batch:
        """Return a batch whose portions are those of this build."""
        place = self._get_own_kind(session, checked)
        portions = [replace(portion, place=place) for portion in batch.portions]
        return replace(batch, portions=portions, sample=batch.sample and replace(batch.sample, place=place))

    def _note_files(self, store: Store, batch: _Batch) -> None:
        """Remember the tables whose stored files are those of the portions of a batch."""
        keys = [batch.plan.hashes[name] for name in batch.plan.tables]
        self._split_tables.update(key for key in keys if has_joined_files(store, key, batch.portions))

    def _select_split_tables(self, plan: PortionPlan) -> PortionPlan:
        """Return a plan with the tables only whose stored files are those of its portions."""
        tables = frozenset(name for name in plan.tables if plan.hashes[name] in self._split_tables)
        return replace(plan, tables=tables)

    def _plan_run(
        self, job: Job, host_plan: HostPlan, key_plan: KeyPlan | None, run: IngestedRun
    ) -> _PlannedRun | None:
        """Cut a run into portions; None if workers can do nothing for it."""
        if not _is_plain(job.constants):
            log_facts("left", run=job.label, reason="a constant is no JSON value")
            return None
        sizes = _measure_hosts(run)
        groups = self._cut(list(sizes.items()))
        if len(groups) < 2:
            return None
        sample = Partition(choose_sample(job.raw, sizes, groups, self._portion))
        return _PlannedRun(job, host_plan, key_plan, run.folders, sizes, groups, sample)

    def _cut(self, sizes: Sequence[tuple[str, int]]) -> list[tuple[str, ...]]:
        """Return hosts in the order of their names, in groups of about as many bytes of logs."""
        total = sum(size for _, size in sizes)
        most = max(1, min(self._portion, -(-total // LEAST_PORTIONS)))
        return [tuple(map(str, hosts)) for hosts in iter_partitions(sorted(sizes), most)]

    def _require(self, session: Session, checked: CheckedPackage) -> Requirements:
        system = checked.package.system
        if system not in self._requirements:
            required = create_requirements(session, self._storage, system, checked.sources)
            self._requirements[system] = required
            self._secrets[required.token] = read_secret(required, self._storage) or ""
        return self._requirements[system]

    def _create_read_task(
        self, session: Session, checked: CheckedPackage, item: DiscoveredFiles, hosts: Sequence[str]
    ) -> Task:
        selected = [host for host in item.files.hosts if host.host in hosts]
        versions = read_versions(item.files.directory) if self.reads_objects and item.run.address else {}
        body = {
            "source": item.source.name,
            "start_ns": item.source.start_ns,
            "address": item.run.address if versions else "",
            "directory": "" if versions else str(resolve_path(item.files.directory)),
            "required_fields": {name: sorted(fields) for name, fields in item.required_fields.items()},
            "hosts": [[host.host, _list_files(item, host, versions)] for host in selected],
        }
        name = f"{next(self._numbers):06}-{READ}"
        size = sum(host.size for host in selected)
        return Task(name, READ, item.run.id, len(hosts), size, self._require(session, checked), body)

    def _create_compute_task(self, session: Session, checked: CheckedPackage, portion: Portion, batch: _Batch) -> Task:
        name = f"{next(self._numbers):06}-{batch.stage}"
        hosts = portion.partition.hosts
        size = sum(batch.sizes[host] for host in hosts)
        body = {**portion.to_json(), **self._publisher.list_inputs(portion)}
        return Task(name, COMPUTE, portion.label, len(hosts), size, self._require(session, checked), body)

    def _create_verify_task(self, session: Session, checked: CheckedPackage, batch: _Batch, sample: Portion) -> Task:
        name, hosts = f"{next(self._numbers):06}-{VERIFY}", sample.partition.hosts
        size = sum(batch.sizes[host] for host in hosts)
        body = plan_comparison(batch.plan, batch.portions, sample).to_json()
        return Task(name, VERIFY, sample.label, len(hosts), size, self._require(session, checked), body)

    def _map(self, session: Session, tasks: Sequence[Task]) -> Iterator[Outcome]:
        """Run tasks on workers; yield the outcomes, with progress."""
        progress = TaskProgress(session.progress, tasks)
        sealed_tasks = [task.add_seal(self._secrets[task.requirements.token]) for task in tasks]
        for outcome in self._cluster.map(sealed_tasks) if tasks else ():
            progress.add(outcome)
            yield outcome


def _list_files(
    item: DiscoveredFiles, host: HostFiles, versions: Mapping[str, tuple[int, str]]
) -> list[tuple[str, int, str]]:
    """Return path, relative to the run, and size of each file of a host; of an object also its version, else none."""
    sizes = {snapshot.path.relative_to(item.files.directory).as_posix(): snapshot.size for snapshot in host.snapshots}
    return [(name, size, versions[name][1] if versions else "") for name, size in sizes.items()]


def _collect_hashes(item: DiscoveredFiles, task: Task, outcome: Outcome) -> dict[str, str]:
    """Return the hashes of files by `FileSnapshot.key`: of those that were the same file for the worker."""
    names = {host for host, _ in task.body["hosts"]}
    snapshots = [snapshot for host in item.files.hosts if host.host in names for snapshot in host.snapshots]
    now_ns = time.time_ns()
    return {
        snapshot.key: sha256
        for snapshot, (size, changed_ns, sha256) in zip(snapshots, outcome.body["files"], strict=True)
        if is_absent(snapshot.path)
        or ((size, changed_ns) == (snapshot.size, snapshot.stamp.changed_ns) and snapshot.stamp.is_settled(now_ns))
    }


def _measure_hosts(run: IngestedRun) -> dict[str, int]:
    """Return the bytes of the logs of each host, in the order of names."""
    sizes: dict[str, int] = {log.host: 0 for log in run.logs}
    for part in run.parts:
        for host in part.files.hosts:
            sizes[host.host] = sizes.get(host.host, 0) + host.size
    return dict(sorted(sizes.items()))


def _log_plan(job: Job, host_plan: HostPlan, key_plan: KeyPlan | None) -> None:
    """Log how many statements workers compute for partitions, and why they compute the others for the whole run."""
    by_key = key_plan.names if key_plan else frozenset()
    totals, counts = Counter(node.statement.kind for node in job.graph), Counter[str]()
    for node in job.graph:
        counts[node.statement.kind] += node.name in host_plan.names or node.name in by_key
    if not totals["metric"]:  # statements that only count records
        return
    facts = {f"{kind}s": f"{counts[kind]} of {totals[kind]}" for kind in ("table", "metric", "check")}
    log_facts("workers", **facts, key=key_plan.key if key_plan else None)
    left = [node for node in job.graph if node.name in host_plan.reasons and node.name not in by_key]
    for node in left:
        if node.statement.kind == "table":
            log_facts("left", table=node.name, reason=host_plan.reasons[node.name])
    for kind in ("metric", "check"):
        reasons = Counter(host_plan.reasons[node.name] for node in left if node.statement.kind == kind)
        for reason, count in reasons.items():
            log_facts("left", **{f"{kind}s": count}, reason=reason)


def _is_plain(constants: Mapping[str, object]) -> bool:
    """Return whether values stay the same as JSON."""
    return all(value is None or type(value) in (int, float, str, bool) for value in constants.values())
