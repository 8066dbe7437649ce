# syntax=docker/dockerfile:1
# An image with `assay` as its command, for a workspace mounted at /work:
#
#   docker build --tag assay .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" assay build
#
# The last stage has Python of Debian 12 without a shell. The first one installs for the same Python.

ARG BUILD=rust:1.88-slim-bookworm
ARG BASE=gcr.io/distroless/python3-debian12:nonroot

FROM ${BUILD} AS build
# Versions are those of the release of Debian in the tag.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends binutils python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# The locked packages first: they change less often than the sources.
COPY pyproject.toml uv.lock ./
RUN python3 -m venv /build \
    && /build/bin/pip install --no-cache-dir "uv>=0.13.8,<0.14" "hatchling>=1.27,<2" \
    && python3 -m venv --without-pip /opt/assay \
    && /build/bin/uv export --frozen --no-default-groups --no-emit-project --quiet --output-file /requirements.txt \
    && /build/bin/uv pip install --no-cache --python /opt/assay --require-hashes --requirement /requirements.txt
COPY . .
RUN cargo build --release --locked --offline --manifest-path native/Cargo.toml \
    && ASSAY_SCANNER="linux_$(uname -m):/source/native/target/release/libassay_scan.so" \
        /build/bin/hatchling build --target wheel --directory /wheels \
    && /build/bin/uv pip install --no-cache --no-deps --python /opt/assay /wheels/*.whl \
    && find /opt/assay -name "*.so" -exec strip --strip-unneeded {} + \
    && /opt/assay/bin/python -m compileall -q /opt/assay/lib

FROM ${BASE}
COPY --from=build /opt/assay /opt/assay
# A cache that any user may write: `--user` is the owner of the mounted folder.
ENV PATH=/opt/assay/bin:$PATH \
    XDG_CACHE_HOME=/tmp/cache
USER 65532
WORKDIR /work
ENTRYPOINT ["/opt/assay/bin/assay"]
CMD ["--help"]
