"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const say = (text) => { document.getElementById("said").textContent = text; };
  root.classList.add("with-scripts");

  /** An element with properties and children; texts stay texts. */
  function made(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // Light and dark: what the system says, until the reader says otherwise.

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const remembered = {
    get: () => { try { return localStorage.getItem("assay-theme"); } catch { return null; } },
    set: (value) => { try { localStorage.setItem("assay-theme", value); } catch { /* a page may have no memory */ } },
  };
  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const themeButton = document.getElementById("theme");
  const redrawn = [];

  function lit() {
    const other = theme() === "dark" ? "Light" : "Dark";
    themeButton.textContent = other;
    themeButton.setAttribute("aria-label", `${other} colours`);
    redrawn.forEach((draw) => draw());
  }
  if (["light", "dark"].includes(remembered.get())) root.dataset.theme = remembered.get();
  themeButton.addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    remembered.set(root.dataset.theme);
    lit();
  });
  dark.addEventListener("change", lit);
  themeButton.parentElement.hidden = false;
  lit();

  // Contents: open where there is room beside the report; the part that is read is marked.

  const contents = document.querySelector("#contents details");
  const roomy = matchMedia("(min-width: 75rem)");
  const unfolded = () => { contents.open = roomy.matches; };
  roomy.addEventListener("change", unfolded);
  unfolded();
  const parts = all("#contents a").map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
  let pending = false;
  function markPart() {
    pending = false;
    const passed = parts.filter(([, part]) => part && part.getBoundingClientRect().top < innerHeight / 3);
    parts.forEach(([link]) => link.removeAttribute("aria-current"));
    if (passed.length) passed[passed.length - 1][0].setAttribute("aria-current", "true");
  }
  addEventListener("scroll", () => {
    if (!pending) requestAnimationFrame(markPart);
    pending = true;
  }, { passive: true });
  markPart();

  // Tables are sorted by their headings: ascending, descending, as they were.

  const collator = new Intl.Collator("en", { numeric: true });
  function key(row, column) {
    const cell = row.cells[column];
    return cell.dataset.number === undefined ? cell.textContent.trim() : Number(cell.dataset.number);
  }
  function compared(left, right) {
    if (typeof left === "number" && typeof right === "number") return left - right;
    return typeof left === typeof right ? collator.compare(left, right) : typeof left === "number" ? -1 : 1;
  }
  function isMissing(value) {
    return typeof value === "string" && ["", "-", "—", "–", "---", "nan", "NaN", "unknown"].includes(value);
  }
  function sorted(table, heading, order) {
    const body = table.tBodies[0];
    const column = Number(heading.dataset.column);
    const keyed = table.original.map((row) => [key(row, column), row]);
    const sign = order === "descending" ? -1 : 1;
    if (order !== "none") {
      const [present, missing] = [keyed.filter(([value]) => !isMissing(value)), keyed.filter(([value]) => isMissing(value))];
      present.sort(([left], [right]) => sign * compared(left, right));
      keyed.splice(0, keyed.length, ...present, ...missing);
    }
    body.append(...keyed.map(([, row]) => row));
    all("th[aria-sort]", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
    if (order !== "none") heading.setAttribute("aria-sort", order);
    const name = heading.querySelector("button").textContent.trim();
    say(order === "none" ? `${table.caption.textContent}: in the order of the report` : `${table.caption.textContent}: sorted by ${name}, ${order}`);
    roving(table);
  }
  function sortable(table) {
    table.original = [...table.tBodies[0].rows];
    for (const heading of all("th[data-column]", table.tHead)) {
      // Browsers leave buttons out of heads that they repeat on paper, so paper has the text by itself.
      const plain = made("span", { className: "on-paper" }, ...[...heading.childNodes].map((node) => node.cloneNode(true)));
      const button = made("button", { type: "button", title: "Sort" }, made("span", {}, ...heading.childNodes));
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: "none" }[heading.getAttribute("aria-sort")] || "ascending";
        sorted(table, heading, next);
      });
      heading.append(button, plain);
    }
  }
  all("table.sortable").forEach(sortable);

  // The rows of tables by the values of a dimension are filtered by a text.

  function filtered(part, text) {
    const tables = all("table.sortable", part);
    for (const table of tables) {
      for (const row of table.tBodies[0].rows) {
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(text.trim().toLowerCase());
      }
      roving(table);
    }
    const count = [...tables[0].tBodies[0].rows].filter((row) => !row.hidden).length;
    say(`${tables[0].caption.textContent}: ${count} ${count === 1 ? "row" : "rows"}`);
  }
  for (const part of all("section.split")) {
    const field = made("input", { type: "search", autocomplete: "off" });
    field.addEventListener("input", () => filtered(part, field.value));
    part.querySelector(".scroll").before(made("label", { className: "filter" }, "Rows with ", field));
  }

  // A table that is wider than its place scrolls in it; any other keeps its head in sight.

  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => fit(target)));
  function fit(place) {
    const table = place.querySelector("table");
    place.classList.remove("fits");
    const fits = table.scrollWidth <= place.clientWidth + 1;
    place.classList.toggle("fits", fits);
    place.classList.toggle("tall", !fits);
    const first = table.tHead.rows[0];
    table.style.setProperty("--first-row", `${first.getBoundingClientRect().height - 1}px`);
    if (fits) {
      ["tabindex", "role", "aria-label"].forEach((name) => place.removeAttribute(name));
    } else {
      place.tabIndex = 0;
      place.setAttribute("role", "region");
      const heading = place.closest("section")?.querySelector("h2")?.textContent ?? "";
      const caption = table.caption.textContent;
      place.setAttribute("aria-label", `Table ${heading && heading !== caption ? `${heading}: ` : ""}${caption}`);
    }
  }
  all(".scroll").forEach((place) => sizes.observe(place));

  // All rows of a long table are made when the reader unfolds them.

  function wholeTable({ title, header, numeric, columns }) {
    const cells = columns.map(unpacked);
    const kind = (column) => (numeric[column] && column ? "number" : "");
    const head = header.map((text, column) => {
      const heading = made("th", { scope: "col", className: kind(column) }, text);
      heading.dataset.column = column;
      return heading;
    });
    const rows = cells[0].map((_, row) => made("tr", {}, ...cells.map((texts, column) => {
      const text = texts[row];
      const cell = column ? made("td", { className: kind(column) }, text) : made("th", { scope: "row" }, text);
      const number = Number(text.replace("−", "-"));
      if (numeric[column] && text && !Number.isNaN(number)) cell.dataset.number = number;
      return cell;
    })));
    const caption = made("caption", { className: "hidden" }, `${title}, all rows`);
    return made("table", { className: "sortable" }, caption, made("thead", {}, made("tr", {}, ...head)), made("tbody", {}, ...rows));
  }
  for (const place of all("details.whole")) {
    place.hidden = false;
    place.addEventListener("toggle", () => {
      if (place.querySelector("table")) return;
      const table = wholeTable(data.tables[place.dataset.table]);
      sortable(table);
      const scroll = made("div", { className: "scroll" }, table);
      place.append(scroll);
      sizes.observe(scroll);
    });
  }

  // One stop of the Tab key a table; arrow keys go on from there.

  function roving(table) {
    const links = all("tbody a[data-metric], tfoot a[data-metric]", table);
    const shown = links.filter((link) => !link.closest("tr").hidden);
    const held = shown.find((link) => link.tabIndex === 0 && link.dataset.held);
    links.forEach((link) => { link.tabIndex = -1; });
    if (shown.length) (held || shown[0]).tabIndex = 0;
  }
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  function linkFrom(cell, [down, right]) {
    const rows = [...cell.closest("table").querySelectorAll("tbody tr:not([hidden]), tfoot tr")];
    let [y, x] = [rows.indexOf(cell.parentElement), cell.cellIndex];
    for (;;) {
      [y, x] = [y + down, x + right];
      const next = rows[y] && rows[y].cells[x];
      if (!next) return null;
      const link = next.querySelector("a[data-metric]");
      if (link) return link;
    }
  }
  for (const table of all("table.leads")) {
    roving(table);
    table.addEventListener("focusin", ({ target }) => {
      if (!target.matches("a[data-metric]")) return;
      all("a[data-held]", table).forEach((link) => { link.tabIndex = -1; delete link.dataset.held; });
      all("a[data-metric][tabindex='0']", table).forEach((link) => { link.tabIndex = -1; });
      target.tabIndex = 0;
      target.dataset.held = "yes";
    });
    table.addEventListener("keydown", (event) => {
      const link = event.target.closest("a[data-metric]");
      if (!link || !(event.key in steps)) return;
      const next = linkFrom(link.closest("th, td"), steps[event.key]);
      if (next) next.focus();
      event.preventDefault();
    });
  }

  // What a number means.

  const dialog = document.getElementById("definition");
  function described(...pairs) {
    const list = made("dl");
    for (const [term, ...texts] of pairs) if (texts.some((text) => text !== "")) list.append(made("dt", {}, term), made("dd", {}, ...texts));
    return list;
  }
  function samplesTable(header, rows) {
    const head = made("tr", {}, ...header.map((text, index) => made("th", { scope: "col", className: index ? "number" : "" }, text)));
    const body = rows.map((row) => made("tr", {}, ...row.map((text, index) => made(index ? "td" : "th", index ? { className: "number" } : { scope: "row" }, text))));
    return made("div", { className: "scroll", tabIndex: 0 }, made("table", {}, made("thead", {}, head), made("tbody", {}, ...body)));
  }
  function link(text, target) {
    const found = made("a", { href: `#${encodeURIComponent(target)}` }, text);
    found.addEventListener("click", () => dialog.close());
    return found;
  }
  /** A chart template with its placeholders replaced. */
  function filled(node, values) {
    if (typeof node === "string") return node.startsWith("${") ? values[node.slice(2, -1)] : node;
    if (Array.isArray(node)) return node.map((item) => filled(item, values));
    if (!node || typeof node !== "object") return node;
    return Object.fromEntries(Object.entries(node).map(([name, item]) => [name, filled(item, values)]));
  }
  function explain(asked) {
    const id = asked.dataset.metric;
    const metric = data.metrics[id];
    const body = document.getElementById("definition-body");
    document.getElementById("definition-name").textContent = metric.name;
    const parts = [];
    if (asked.dataset.of) {
      const [row, ...column] = asked.dataset.of.split("; ");
      parts.push(made("p", { className: "asked" }, made("strong", {}, asked.textContent), ` — ${row}: ${column.join("; ")}`));
    }
    parts.push(made("p", { className: "lines" }, metric.description));
    const places = [[metric.term ? "Entry among the other numbers" : "Entry in the data dictionary", `metric-${id}`]];
    if (document.getElementById(`figure-${id}`)) places.push(["Figure", `figure-${id}`]);
    parts.push(described(
      ["Id", made("code", {}, id)],
      ["Unit", metric.unit || (metric.term ? "" : "none")],
      ["Section", metric.section],
      ["Definition hash", metric.definition ? made("code", {}, metric.definition) : metric.term ? "" : "as published; its values were not worked out here"],
      ["See", ...places.flatMap(([text, target], index) => index ? [" · ", link(text, target)] : [link(text, target)])],
    ));
    if (metric.samples && metric.samples.length) parts.push(made("h3", {}, "Samples"), samplesTable(metric.header && metric.header.length ? metric.header : data.samples, metric.samples));
    if (metric.changes && metric.changes.length) {
      const sentences = ([run, ...texts]) => [run, ...texts.map((text) => made("div", {}, text))];
      parts.push(made("h3", {}, "Judgement"), described(...metric.changes.map(sentences)));
    }
    const figures = metric.figures || [];
    if (figures.length || (metric.remarks && metric.remarks.length)) {
      parts.push(made("h3", {}, "Distribution"), ...(metric.remarks || []).map((text) => made("p", {}, text)));
      parts.push(made("div", { className: "details" }, ...figures.map((figure) => {
        const place = made("div", { className: "drawing" });
        place.dataset.chart = figure.id;
        const rows = figure.rows.map((row) => Object.fromEntries(row.map((value, index) => [figure.columns[index], value]).filter(([, value]) => value !== null)));
        data.charts[figure.id] = filled(data.templates[figure.template], { ...figure, rows });
        return made("figure", {}, made("figcaption", {}, figure.title), place);
      })));
    }
    if (metric.quantiles && metric.quantiles.length) parts.push(samplesTable(metric.quantiles[0], metric.quantiles.slice(1)));
    if (metric.events && metric.events.length) {
      parts.push(made("h3", {}, "Source events"), described(...metric.events.map(([name, doc]) => [name, doc || "—"])));
    }
    if (metric.constants && metric.constants.length) {
      parts.push(made("h3", {}, "Constants of the runs"), described(...metric.constants));
    }
    if (metric.sql) {
      parts.push(made("h3", {}, "SQL, ", made("code", {}, metric.file)), made("pre", { tabIndex: 0 }, made("code", {}, metric.sql)));
    }
    body.replaceChildren(...parts);
    dialog.showModal();
    dialog.scrollTop = 0;
    all(".drawing", body).forEach(draw);
  }
  document.addEventListener("click", (event) => {
    const asked = event.target.closest("a[data-metric]");
    if (!asked || event.ctrlKey || event.metaKey || event.shiftKey || !(asked.dataset.metric in data.metrics)) return;
    event.preventDefault();
    explain(asked);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  // Charts. Colours are variables of the style sheet, so that they change with the light; a canvas needs them as they
  // are, and is drawn again.

  const MANY = 4000;
  const probe = made("span", { hidden: true });
  document.body.append(probe);
  function coloured(value) {
    if (typeof value === "string" && value.startsWith("var(--")) {
      probe.style.color = value;
      return getComputedStyle(probe).color;
    }
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, coloured(item)]));
    return value;
  }
  function sized(spec, place) {
    const room = place.clientWidth;
    if (spec.usermeta.assay.paper) return spec;
    if (!spec.facet) return { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
    // A faceted view has no size of its own: that of its panels is part of the padding.
    const { left, right, top, bottom } = spec.padding;
    const width = Math.max(room - left - right, 100);
    const panels = spec.facet.row.sort.length;
    const tall = panels * spec.spec.height + (panels - 1) * spec.spacing;
    return {
      ...spec, spec: { ...spec.spec, width }, autosize: { type: "none" },
      padding: { left, right: right + width, top, bottom: bottom + tall },
    };
  }
  /** The values of a packed column: see packed_rows.py. */
  function unpacked({ plain, runs, values, places }) {
    if (runs) return runs.flatMap(([value, rows]) => Array(rows).fill(value));
    return places ? places.map((place) => values[place]) : plain;
  }
  function records(dataset) {
    if (Array.isArray(dataset)) return dataset;
    const columns = Object.entries(dataset.columns).map(([name, column]) => [name, unpacked(column)]);
    return Array.from({ length: dataset.length }, (_, row) => {
      const record = {};
      for (const [name, values] of columns) if (values[row] !== null) record[name] = values[row];
      return record;
    });
  }
  async function draw(place) {
    const { datasets: packed, ...form } = structuredClone(data.charts[place.dataset.chart]);
    const datasets = Object.fromEntries(Object.entries(packed || {}).map(([name, dataset]) => [name, records(dataset)]));
    const canvas = Object.values(datasets).some((rows) => rows.length > MANY);
    const spec = { ...(canvas ? coloured(form) : form), datasets };
    const paper = spec.usermeta.assay.paper;
    const { view } = await vegaEmbed(place, sized(spec, place), {
      mode: "vega-lite", ast: true, actions: false, renderer: canvas ? "canvas" : "svg", defaultStyle: false,
      logLevel: 1, config: paper ? {} : canvas ? coloured(data.theme) : data.theme,
      tooltip: { disableDefaultStyle: true },
    });
    place.view = view;
    place.classList.toggle("paper", Boolean(paper));
    place.classList.add("drawn");
    if (canvas && !place.again) redrawn.push(place.again = () => draw(place));
    if (spec.facet && !place.again) widths.observe(place);
    toggles(place);
    zooming(place);
  }
  const known = new WeakMap();
  const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    const width = target.clientWidth;
    if (known.has(target) && known.get(target) !== width && width) draw(target);
    known.set(target, width);
  }));

  function toggles(place) {
    const buttons = all(".legend button", place.parentElement);
    const apply = () => {
      const hidden = buttons.filter((button) => button.getAttribute("aria-pressed") === "false").map((button) => button.dataset.line);
      place.view.signal("hidden", hidden).runAsync();
    };
    for (const button of buttons) {
      if (!button.disabled) continue;
      button.disabled = false;
      button.title = "Switch this line off or on; with Shift in all figures";
      button.addEventListener("click", (event) => {
        const pressed = String(button.getAttribute("aria-pressed") === "false");
        const same = event.shiftKey ? all(".legend button").filter((other) => other.dataset.line === button.dataset.line) : [button];
        same.forEach((other) => other.setAttribute("aria-pressed", pressed));
        same.forEach((other) => other.closest(".chart").querySelector(".drawing").apply?.());
      });
    }
    place.apply = buttons.length ? apply : undefined;
    if (buttons.some((button) => button.getAttribute("aria-pressed") === "false")) apply();
  }

  function zooming(place) {
    const names = Object.keys(place.view.getState().signals).filter((name) => /^zoom_(?!tuple|translate|zoom|modify)/.test(name));
    if (!names.length || place.parentElement.querySelector(".zoom")) return;
    const first = Object.fromEntries(names.map((name) => [name, null]));
    const scaleOf = (name) => place.view.scale(name === "zoom_x" ? "x" : "y");
    const by = (factor) => {
      for (const name of names) {
        const scale = scaleOf(name);
        const [from, to] = scale.range();
        const middle = (from + to) / 2;
        place.view.signal(name, [from, to].map((at) => scale.invert(middle + (at - middle) * factor)));
      }
      place.view.runAsync();
    };
    const reset = () => { names.forEach((name) => place.view.signal(name, first[name])); place.view.runAsync(); };
    const caption = place.parentElement.querySelector(".count").textContent;
    const button = (text, label, action) => {
      const found = made("button", { type: "button", title: label }, text);
      found.setAttribute("aria-label", `${label}: ${caption}`);
      found.addEventListener("click", action);
      return found;
    };
    const buttons = made("div", { className: "zoom" }, button("+", "Zoom in", () => by(0.7)), button("−", "Zoom out", () => by(1 / 0.7)), button("Reset", "Whole axes", reset));
    place.parentElement.querySelector("figcaption").prepend(buttons);
  }

  // Those in sight first, then all others, so that a printed page has them.
  const waiting = new Set(all(".drawing[data-chart]"));
  const near = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
    if (isIntersecting) inSight.add(target); else inSight.delete(target);
  }), { rootMargin: "50%" });
  const inSight = new Set();
  waiting.forEach((place) => near.observe(place));
  async function drawAll() {
    while (waiting.size) {
      const place = [...waiting].find((item) => inSight.has(item)) || waiting.values().next().value;
      waiting.delete(place);
      near.unobserve(place);
      try {
        await draw(place);
      } catch (error) {
        place.classList.add("drawn");
        place.replaceChildren(made("p", { className: "note" }, `This chart cannot be drawn: ${error.message}`));
        console.error(error);
      }
      await new Promise((resolve) => { setTimeout(resolve); });
    }
    root.classList.add("complete");
  }
  requestAnimationFrame(() => requestAnimationFrame(drawAll));
})();
