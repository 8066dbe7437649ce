// Charts. Colours are variables of the style sheet, so that they change with the light; a canvas needs them as they
// are, and is drawn again.

const MANY = 4000;
const probe = create("span", { hidden: true });
document.body.append(probe);
function resolveColours(value) {
  if (typeof value === "string" && value.startsWith("var(--")) {
    probe.style.color = value;
    return getComputedStyle(probe).color;
  }
  if (Array.isArray(value)) return value.map(resolveColours);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolveColours(item)]));
  return value;
}
function fitSpec(spec, place) {
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
function unpackColumn({ plain, runs, values, places }) {
  if (runs) return runs.flatMap(([value, rows]) => Array(rows).fill(value));
  return places ? places.map((place) => values[place]) : plain;
}
function unpackRows(dataset) {
  if (Array.isArray(dataset)) return dataset;
  const columns = Object.entries(dataset.columns).map(([name, column]) => [name, unpackColumn(column)]);
  return Array.from({ length: dataset.length }, (_, row) => {
    const record = {};
    for (const [name, values] of columns) if (values[row] !== null) record[name] = values[row];
    return record;
  });
}
async function draw(place) {
  const { datasets: packed, ...form } = structuredClone(data.charts[place.dataset.chart]);
  const datasets = Object.fromEntries(Object.entries(packed || {}).map(([name, dataset]) => [name, unpackRows(dataset)]));
  const canvas = Object.values(datasets).some((rows) => rows.length > MANY);
  const spec = { ...(canvas ? resolveColours(form) : form), datasets };
  const paper = spec.usermeta.assay.paper;
  const { view } = await vegaEmbed(place, fitSpec(spec, place), {
    mode: "vega-lite", ast: true, actions: false, renderer: canvas ? "canvas" : "svg", defaultStyle: false,
    logLevel: 1, config: paper ? {} : canvas ? resolveColours(data.theme) : data.theme,
    tooltip: showTooltip ? createTooltip(spec) : { disableDefaultStyle: true },
  });
  place.view = view;
  if (!showTooltip) {
    showTooltip = view.tooltip();
    await view.tooltip(createTooltip(spec)).runAsync(); // a new handler resets what is drawn
  }
  place.classList.toggle("paper", Boolean(paper));
  place.classList.add("drawn");
  const still = place.parentElement.querySelector(".still");
  if (still) place.style.minHeight = `${still.offsetHeight}px`; // what follows stays where it is
  still?.remove();
  if (canvas && !place.again) redrawn.push(place.again = () => draw(place));
  if (spec.facet && !place.again) widths.observe(place);
  enableToggles(place);
  enableZoom(place);
  view.addEventListener("click", (_event, item) => openMetric(place, item?.datum?.metric));
}
/** Open the panel of the metric that a mark of a figure is about. */
function openMetric(place, metric) {
  if (!metric || !(metric in data.metrics)) return;
  const link = create("a", { href: `#metric-${encodeURIComponent(metric)}`, tabIndex: -1 });
  link.dataset.metric = metric;
  place.append(link);
  explain(link);
}
let showTooltip = null; // the handler of the library, from the first view
/** Return the tooltip handler of a chart: with the unit, and the values of the other lines at the place of a point. */
function createTooltip({ usermeta: { assay: { others, unit } }, datasets }) {
  const addUnit = (text) => (unit ? `${text} ${unit}` : text);
  function addOthers(facts, datum) {
    facts[others.title] = addUnit(facts[others.title]);
    const isOther = (row) => row[others.line] !== datum[others.line] && others.at.every((name) => row[name] === datum[name]);
    for (const row of Object.values(datasets).flat().filter(isOther)) {
      const label = `in ${row[others.line]}`;
      if (others.value in row && !(label in facts)) facts[label] = addUnit(Number(row[others.value].toPrecision(6)));
    }
  }
  return (handler, event, item, value) => {
    if (!value || typeof value !== "object") return showTooltip(handler, event, item, value);
    const facts = { ...value };
    if (others && others.value in item.datum) addOthers(facts, item.datum);
    else if (unit) facts.unit = unit;
    return showTooltip(handler, event, item, facts);
  };
}
const known = new WeakMap();
const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => {
  const width = target.clientWidth;
  if (known.has(target) && known.get(target) !== width && width) draw(target);
  known.set(target, width);
}));

function enableToggles(place) {
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

function enableZoom(place) {
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
  const createButton = (text, label, action) => {
    const element = create("button", { type: "button", title: label }, text);
    element.setAttribute("aria-label", `${label}: ${caption}`);
    element.addEventListener("click", action);
    return element;
  };
  const buttons = create("div", { className: "zoom" }, createButton("+", "Zoom in", () => by(0.7)), createButton("−", "Zoom out", () => by(1 / 0.7)), createButton("Reset", "Whole axes", reset));
  place.parentElement.querySelector("figcaption").prepend(buttons);
}

// The chart library runs after the browser has shown the page with its stills. Figures in sight are drawn first.
let libraryIsLoaded = false;
function loadLibrary() {
  if (libraryIsLoaded) return;
  libraryIsLoaded = true;
  document.head.append(create("script", { textContent: document.getElementById("chart-library").textContent }));
}
const waiting = new Set(all(".drawing[data-chart]"));
const inSight = new Set();
const near = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
  if (isIntersecting) inSight.add(target); else inSight.delete(target);
}), { rootMargin: "50%" });
waiting.forEach((place) => near.observe(place));
async function drawAll() {
  if (waiting.size) loadLibrary();
  while (waiting.size) {
    const place = [...waiting].find((item) => inSight.has(item)) || waiting.values().next().value;
    waiting.delete(place);
    near.unobserve(place);
    try {
      await draw(place);
    } catch (error) {
      reportFailure(place, error);
    }
    stayAtPlace();
    await new Promise((resolve) => { setTimeout(resolve); });
  }
  root.classList.add("complete");
}
function reportFailure(place, error) {
  console.error(error);
  if (place.parentElement.querySelector(".still")) {
    place.remove();
    return;
  }
  place.classList.add("drawn");
  place.replaceChildren(create("p", { className: "note" }, `This chart cannot be drawn: ${error.message}`));
}
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawAll)));
