"""Build what a release publishes into dist/: the source distribution, wheels, an SBOM.

    just wheels            all targets that can be built here
    just wheels --target x86_64-unknown-linux-gnu
    just wheels --url https://github.com/OWNER/assay

Every wheel is built from the unpacked source distribution, never from the checkout. The scanner is a library that
ctypes loads, so a platform has one wheel for all Pythons; the pure wheel is for all other platforms. Zig links for
other platforms and against an old glibc. The last lines say for each target what was built, or why not.

The same commit gives the same bytes in every folder: times are SOURCE_DATE_EPOCH or the time of the commit.

The checkout does not know where it is published. `--url` writes the addresses of the project into its metadata, and
makes the links of its README absolute, since package indexes print it without the files around it.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GLIBC = "2.17"  # what Rust's standard library requires
MACOS = "11.0"
INSTALL_NAME = "-Clink-arg=-Wl,-install_name,@rpath/libassay_scan.dylib"  # the default is a path of this machine


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """A Rust target, the platform tag of its wheel, and its name for cargo-zigbuild (with the version of glibc)."""

    name: str
    tag: str
    linked: str

    @property
    def is_mac(self) -> bool:
        """Whether it is macOS."""
        return "apple" in self.name


LINUX, MAC = "{}-unknown-linux-gnu", "{}-apple-darwin"
MAC_TAG = f"macosx_{MACOS.replace('.', '_')}_{{}}"
TARGETS = (
    *(
        Target(LINUX.format(cpu), f"manylinux_2_17_{cpu}.manylinux2014_{cpu}", f"{LINUX.format(cpu)}.{GLIBC}")
        for cpu in ("x86_64", "aarch64")
    ),
    *(
        Target(MAC.format(cpu), MAC_TAG.format(arm), MAC.format(cpu))
        for cpu, arm in (("x86_64", "x86_64"), ("aarch64", "arm64"))
    ),
)
NOT_BUILT = {
    "x86_64-unknown-linux-musl": "DuckDB and Typst have no wheels for musl",
    "x86_64-pc-windows-msvc": "Assay does not run on Windows",
}


class BuildError(Exception):
    """A step failed; the text is the end of its output."""


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """Run a command; return its output. Raises BuildError."""
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [str(item) for item in command], cwd=cwd, env=environment, text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        lines = done.stdout.strip().splitlines()[-5:]
        raise BuildError("\n".join([f"failed: {' '.join(map(str, command[:4]))}", *lines]))
    return done.stdout


def find_time() -> str:
    """Return the seconds since 1970 that archives use as the time of all files."""
    return os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct").strip()


def build_distribution(folder: Path, kind: str, out: Path, time: str, scanner: str = "") -> Path:
    """Build the `sdist` or `wheel` of a folder into an empty folder; return the file."""
    command = (sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", out)
    run(*command, cwd=folder, SOURCE_DATE_EPOCH=time, ASSAY_SCANNER=scanner)
    (file,) = out.iterdir()
    return file


def unpack(sdist: Path, folder: Path) -> Path:
    """Unpack a source distribution; return its folder."""
    with tarfile.open(sdist) as archive:
        # Python before 3.11.4 has no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)
    (source,) = folder.iterdir()
    return source


def add_addresses(source: Path, url: str) -> None:
    """Write the addresses of the project into the `pyproject.toml` and README of a source folder."""
    project = source / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    tag = f"v{tomllib.loads(text)['project']['version']}"
    addresses = {
        "Repository": url,
        "Documentation": f"{url}/blob/{tag}/README.md",
        "Changelog": f"{url}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }
    lines = [f'{name} = "{address}"\n' for name, address in addresses.items()]
    project.write_text(f"{text}\n[project.urls]\n{''.join(lines)}", encoding="utf-8")
    readme = source / "README.md"
    images = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\1{url}/raw/{tag}/", readme.read_text(encoding="utf-8"))
    readme.write_text(re.sub(r"(\]\()(?!https?:|#)", rf"\1{url}/blob/{tag}/", images), encoding="utf-8")


def build_source(checkout: Path, scratch: Path, time: str, url: str) -> tuple[Path, Path]:
    """Build the source distribution, with the addresses below `url` if there is one; return it and its folder."""
    sdist = build_distribution(checkout, "sdist", scratch / "sdist", time)
    source = unpack(sdist, scratch / "source")
    if not url:
        return sdist, source
    add_addresses(source, url)
    sdist = build_distribution(source, "sdist", scratch / "sdist-with-addresses", time)
    return sdist, unpack(sdist, scratch / "source-with-addresses")


def find_obstacle(target: Target) -> str:
    """Return why a target cannot be built here; an empty text if it can."""
    for program in ("cargo", "cargo-zigbuild"):
        if not shutil.which(program):
            return f"{program} is not installed"
    folder = Path(run("rustc", "--print", "target-libdir", "--target", target.name).strip())
    return "" if folder.is_dir() else f"its standard library is not installed (rustup target add {target.name})"


def build_scanner(source: Path, target: Target, folder: Path) -> Path:
    """Build the scanner of a source folder; return the library."""
    variables = {"RUSTFLAGS": ""}
    if target.is_mac:  # the linker strips, for it signs afterwards; what strips later would break the signature
        variables = {
            "RUSTFLAGS": f"-Clink-arg=-Wl,-s {INSTALL_NAME}",
            "CARGO_PROFILE_RELEASE_STRIP": "none",
            "MACOSX_DEPLOYMENT_TARGET": MACOS,
        }
    options = ("--release", "--locked", "--offline", "--quiet", "--target", target.linked)
    manifest = source / "native" / "Cargo.toml"
    run("cargo", "zigbuild", *options, "--manifest-path", manifest, "--target-dir", folder, cwd=source, **variables)
    return folder / target.name / "release" / f"libassay_scan.{'dylib' if target.is_mac else 'so'}"


def check_tag(wheel: Path, target: Target) -> None:
    """Check with auditwheel that a Linux wheel needs no newer glibc than its tag says. Raises BuildError."""
    if not target.is_mac:
        answer = run(sys.executable, "-m", "auditwheel", "show", wheel)
        if target.tag.partition(".")[0] not in answer:
            raise BuildError(f"auditwheel does not confirm {target.tag}:\n{answer}")


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install a wheel with its dependencies as a user does, away from the checkout, and build a report with it."""
    run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", sys.executable, folder / "venv")
    run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", folder / "venv", wheel)
    assay = folder / "venv" / "bin" / "assay"
    variables = {"PYTHONPATH": "", "XDG_CACHE_HOME": str(folder / "cache")}
    run(assay, "init", "demo", cwd=folder, **variables)
    run(assay, "build", cwd=folder / "demo", **variables)


def write_sbom(file: Path, time: str) -> None:
    """Write the packages of uv.lock that an installation has as CycloneDX, without the time and id of this run."""
    export = ("export", "--frozen", "--offline", "--no-default-groups", "--quiet", "--format", "cyclonedx1.5")
    document = json.loads(run(sys.executable, "-m", "uv", *export, "--preview-features", "sbom-export"))
    del document["serialNumber"]
    document["metadata"]["timestamp"] = datetime.fromtimestamp(int(time), UTC).isoformat()
    file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def build_wheels(
    source: Path, out: Path, time: str, names: tuple[str, ...], scratch: Path
) -> Iterator[tuple[str, str]]:
    """Build the pure wheel and those of targets; yield each target with what came of it."""
    pure = build_distribution(source, "wheel", scratch / "pure", time, "none")
    yield "any platform", _publish(pure, out)
    for target in TARGETS:
        obstacle = "not asked for" if names and target.name not in names else find_obstacle(target)
        if obstacle:
            yield target.name, f"skipped: {obstacle}"
            continue
        library = build_scanner(source, target, scratch / "target")
        wheel = build_distribution(source, "wheel", scratch / target.name, time, f"{target.tag}:{library}")
        check_tag(wheel, target)
        is_here = sysconfig.get_platform() == f"linux-{target.name.partition('-')[0]}" and not target.is_mac
        if is_here:
            try_wheel(wheel, scratch / "try")
        yield target.name, _publish(wheel, out) + (", built a report here" if is_here else ", not run here")
    yield from ((name, f"skipped: {reason}") for name, reason in NOT_BUILT.items())


def _publish(file: Path, out: Path) -> str:
    """Move a file into the output folder; return its name."""
    shutil.move(file, out / file.name)
    return file.name


def write_hashes(out: Path) -> None:
    """Write SHA256SUMS of all files of a folder."""
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def parse_url(text: str) -> str:
    """Return an address of a repository without a slash at its end. Raises ArgumentTypeError for other texts."""
    if not re.fullmatch(r"https?://[\w.-]+(:\d+)?(/[\w.~-]+)+/?", text):
        raise argparse.ArgumentTypeError(f"expected an address such as https://github.com/OWNER/assay, found {text!r}")
    return text.rstrip("/")


def parse_arguments() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [target.name for target in TARGETS]
    parser.add_argument("--target", action="append", default=[], choices=names, help="Rust target  [default: all]")
    parser.add_argument("--url", default="", type=parse_url, help="address of the published repository")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="output folder, which is emptied")
    return parser.parse_args()


def main() -> int:
    """Build everything; return 0, or 1 if a step failed."""
    options = parse_arguments()
    out, rows = options.out.absolute(), list[tuple[str, str]]()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    try:
        time = find_time()
        with tempfile.TemporaryDirectory(prefix="assay-wheels-") as name:
            scratch = Path(name)
            sdist, source = build_source(ROOT, scratch, time, options.url)
            rows.append(("source", _publish(sdist, out)))
            rows.extend(build_wheels(source, out, time, tuple(options.target), scratch))
        write_sbom(out / "sbom.cdx.json", time)
        rows.append(("SBOM", "sbom.cdx.json"))
        write_hashes(out)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    width = max(len(name) for name, _ in rows)
    sys.stdout.writelines(f"{name:{width}}  {result}\n" for name, result in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
