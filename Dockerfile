# syntax=docker/dockerfile:1
# An image with `assay` as its command, for a workspace mounted at /work:
#
#   docker build --tag assay .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" assay build

ARG BASE=python:3.13-slim-bookworm
ARG RUST=rust:1.88-slim-bookworm

FROM ${RUST} AS scanner
WORKDIR /source
COPY native native
RUN cargo build --release --locked --offline --manifest-path native/Cargo.toml

FROM ${BASE} AS install
WORKDIR /source
# The locked packages first: they change less often than the sources.
COPY pyproject.toml uv.lock ./
RUN python -m venv /build \
    && /build/bin/pip install --no-cache-dir "uv>=0.13.8,<0.14" "hatchling>=1.27,<2" \
    && python -m venv --without-pip /opt/assay \
    && /build/bin/uv export --frozen --no-default-groups --no-emit-project --quiet --output-file /requirements.txt \
    && /build/bin/uv pip install --no-cache --python /opt/assay --require-hashes --requirement /requirements.txt
COPY . .
COPY --from=scanner /source/native/target/release/libassay_scan.so /scanner/
RUN ASSAY_SCANNER="linux_$(uname -m):/scanner/libassay_scan.so" \
    /build/bin/uv pip install --no-cache --python /opt/assay --no-deps --no-build-isolation \
    --config-settings=unused=1 . \
    && /opt/assay/bin/python -m compileall -q /opt/assay/lib

FROM ${BASE}
COPY --from=install /opt/assay /opt/assay
RUN useradd --create-home --uid 1000 assay && mkdir /work && chown assay /work
# A cache that any user may write: `--user` gives the user of the mounted folder.
ENV PATH=/opt/assay/bin:$PATH \
    XDG_CACHE_HOME=/tmp/cache
USER assay
WORKDIR /work
ENTRYPOINT ["assay"]
CMD ["--help"]
