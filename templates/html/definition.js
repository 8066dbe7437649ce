// What a number means: in a panel beside its row, which stays in sight; on a narrow page, below it.

const dialog = document.getElementById("definition");
function describeTerms(...pairs) {
  const list = create("dl");
  for (const [term, ...texts] of pairs) if (texts.some((text) => text !== "")) list.append(create("dt", {}, term), create("dd", {}, ...texts));
  return list;
}
function buildSamplesTable(header, rows) {
  const head = create("tr", {}, ...header.map((text, index) => create("th", { scope: "col", className: index ? "number" : "" }, text)));
  const body = rows.map((row) => create("tr", {}, ...row.map((text, index) => create(index ? "td" : "th", index ? { className: "number" } : { scope: "row" }, text))));
  return create("div", { className: "scroll", tabIndex: 0 }, create("table", {}, create("thead", {}, head), create("tbody", {}, ...body)));
}
function createLink(text, target) {
  const element = create("a", { href: `#${encodeURIComponent(target)}` }, text);
  element.addEventListener("click", () => closePanel({ focus: false }));
  return element;
}
/** A chart template with its placeholders replaced. */
function fillTemplate(node, values) {
  if (typeof node === "string") return node.startsWith("${") ? values[node.slice(2, -1)] : node;
  if (Array.isArray(node)) return node.map((item) => fillTemplate(item, values));
  if (!node || typeof node !== "object") return node;
  return Object.fromEntries(Object.entries(node).map(([name, item]) => [name, fillTemplate(item, values)]));
}
function explain(link) {
  const id = link.dataset.metric;
  const metric = data.metrics[id];
  const body = document.getElementById("definition-body");
  document.getElementById("definition-name").replaceChildren(...isolate(metric.name));
  const parts = [];
  if (link.dataset.of) {
    const [row, ...column] = link.dataset.of.split("; ");
    parts.push(create("p", { className: "asked" }, create("strong", {}, readText(link)), ` — ${row}: ${column.join("; ")}`));
  }
  parts.push(create("p", { className: "lines" }, metric.description));
  const places = [[metric.term ? "Entry among the other numbers" : "Entry in the data dictionary", `metric-${id}`]];
  if (document.getElementById(`figure-${id}`)) places.push(["Figure", `figure-${id}`]);
  parts.push(describeTerms(
    ["Id", create("code", {}, id)],
    ["Unit", metric.unit || (metric.term ? "" : "none")],
    ["Section", metric.section],
    ["Definition hash", metric.definition ? create("code", {}, metric.definition) : metric.term ? "" : "as published; its values were not worked out here"],
    ["See", ...places.flatMap(([text, target], index) => index ? [" · ", createLink(text, target)] : [createLink(text, target)])],
  ));
  if (metric.samples && metric.samples.length) parts.push(create("h3", {}, "Samples"), buildSamplesTable(metric.header && metric.header.length ? metric.header : data.samples, metric.samples));
  if (metric.changes && metric.changes.length) {
    const sentences = ([run, ...texts]) => [run, ...texts.map((text) => create("div", {}, text))];
    parts.push(create("h3", {}, "Judgement"), describeTerms(...metric.changes.map(sentences)));
  }
  const figures = metric.figures || [];
  if (figures.length || (metric.remarks && metric.remarks.length)) {
    parts.push(create("h3", {}, "Distribution"), ...(metric.remarks || []).map((text) => create("p", {}, text)));
    parts.push(create("div", { className: "details" }, ...figures.map((figure) => {
      const place = create("div", { className: "drawing" });
      place.dataset.chart = figure.id;
      const rows = figure.rows.map((row) => Object.fromEntries(row.map((value, index) => [figure.columns[index], value]).filter(([, value]) => value !== null)));
      data.charts[figure.id] = fillTemplate(data.templates[figure.template], { ...figure, rows });
      return create("figure", {}, create("figcaption", {}, figure.title), place);
    })));
  }
  if (metric.quantiles && metric.quantiles.length) parts.push(buildSamplesTable(metric.quantiles[0], metric.quantiles.slice(1)));
  if (metric.events && metric.events.length) {
    parts.push(create("h3", {}, "Source events"), describeTerms(...metric.events.map(([name, doc]) => [name, doc || "—"])));
  }
  if (metric.constants && metric.constants.length) {
    parts.push(create("h3", {}, "Constants of the runs"), describeTerms(...metric.constants));
  }
  if (metric.sql) {
    parts.push(create("h3", {}, "SQL, ", create("code", {}, metric.file)), create("pre", { tabIndex: 0 }, create("code", {}, metric.sql)));
  }
  body.replaceChildren(...parts);
  openPanel(link);
  if (figures.length) loadLibrary();
  all(".drawing", body).forEach(draw);
}
let explained = null;
/** Change the layout, and scroll so that an element stays where it was, or comes to a height of the window. */
function anchorAt(element, change, height) {
  const before = element.getBoundingClientRect().top;
  change();
  if (!element.isConnected) return;
  scrollBy({ top: element.getBoundingClientRect().top - (height ?? before), behavior: "instant" });
}
function markExplained(link) {
  explained?.closest("tr")?.classList.remove("explained");
  explained = link;
  explained?.closest("tr")?.classList.add("explained");
}
function openPanel(link) {
  markExplained(link);
  const isBelow = narrow.matches && link.getBoundingClientRect().bottom > innerHeight * 0.42;
  anchorAt(link, () => {
    root.classList.add("with-panel");
    if (!dialog.open) dialog.show();
    dialog.querySelector(".close").focus({ preventScroll: true });
  }, isBelow ? innerHeight * 0.2 : undefined);
  dialog.scrollTop = 0;
}
function closePanel({ focus = true } = {}) {
  if (!dialog.open) return;
  const link = explained;
  anchorAt(link, () => {
    dialog.close();
    root.classList.remove("with-panel");
    markExplained(null);
  });
  if (focus) link.focus({ preventScroll: true });
}
dialog.querySelector(".close").addEventListener("click", (event) => {
  event.preventDefault();
  closePanel();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && dialog.open) closePanel();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-metric]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !(link.dataset.metric in data.metrics)) return;
  event.preventDefault();
  explain(link);
});

// The tooltip of a number has its unit and the values of the other runs.

function describeValues(link) {
  const row = link.closest("tr");
  const table = row.closest("table");
  const label = readText(row.cells[0]);
  const { name } = data.metrics[link.dataset.metric];
  const unit = label.startsWith(`${name}, `) ? ` ${label.slice(name.length + 2)}` : "";
  const lines = [unit ? name : `${label} (no unit)`];
  let last = "";
  for (const heading of all("th[data-run][data-column]", table.tHead)) {
    const { run, column } = heading.dataset;
    if (run !== last) lines.push(`${run}: ${readText(row.cells[column])}${unit}`);
    last = run;
  }
  return lines.join("\n");
}
for (const name of ["pointerover", "focusin"]) {
  document.addEventListener(name, ({ target }) => {
    const link = target.closest?.("table.metrics tbody a.value");
    if (link && !link.title && link.dataset.metric in data.metrics) link.title = isolateText(describeValues(link));
  });
}
