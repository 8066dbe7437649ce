"use strict";
// Shows a report in a frame, and reloads it when the server says that it was built again.
document.addEventListener("DOMContentLoaded", () => {
  const SETTLING = 2000; // ms in which charts of a reloaded report are drawn, which moves what is below them
  const frame = document.getElementById("report");
  const status = document.getElementById("status");
  const problem = document.getElementById("problem");
  let version = null;

  // The place is restored until the report is drawn, or until the reader scrolls.
  function restorePlace(left, top) {
    const view = frame.contentWindow;
    const end = performance.now() + SETTLING;
    const stop = new AbortController();
    for (const name of ["wheel", "touchstart", "keydown", "pointerdown"]) {
      view.addEventListener(name, () => stop.abort(), { passive: true, once: true });
    }
    const restore = () => {
      if (stop.signal.aborted || performance.now() > end || frame.contentWindow !== view) return;
      if (view.scrollY !== top || view.scrollX !== left) view.scrollTo({ left, top, behavior: "instant" });
      requestAnimationFrame(restore);
    };
    restore();
  }

  function showReport() {
    const view = frame.contentWindow;
    const isFirst = !frame.src;
    const [left, top] = isFirst ? [0, 0] : [view.scrollX, view.scrollY];
    frame.addEventListener("load", () => {
      document.title = frame.contentDocument.title;
      // The frame may show this server only: other addresses open beside it.
      for (const link of frame.contentDocument.querySelectorAll("a[href*=':']")) link.target = "_blank";
      if (!isFirst) restorePlace(left, top);
    }, { once: true });
    if (isFirst) frame.src = "/report/report.html";
    else view.location.reload();
  }

  const events = new EventSource("/events");
  events.addEventListener("message", event => {
    const state = JSON.parse(event.data);
    problem.hidden = !state.problem;
    problem.querySelector("pre").textContent = state.problem;
    status.textContent = state.has_report || state.problem ? "" : status.textContent;
    if (state.has_report && state.version !== version) {
      version = state.version;
      showReport();
    }
  });
  events.addEventListener("error", () => { status.textContent = "assay watch has ended."; });
  events.addEventListener("open", () => { if (version) status.textContent = ""; });
});
