"use strict";
// Filters of the metrics over time. The address keeps them, so that a link shows the same rows.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("filters");
  if (!form) return;
  const fields = ["words", "system", "state", "tag"].map(name => document.getElementById(name));
  const status = document.getElementById("found");
  const normalize = text => text.normalize("NFKC").toLowerCase();
  const rows = [...document.querySelectorAll("#overview tbody tr")].map(row => ({
    row, text: normalize(row.cells[0].textContent), system: row.dataset.system, state: row.dataset.state, tag: row.dataset.tag,
  }));
  const update = () => {
    const [text, system, state, tag] = fields.map(field => field.value);
    const words = normalize(text).split(/\s+/).filter(Boolean);
    let count = 0;
    for (const item of rows) {
      const isShown = (!system || item.system === system) && (!state || item.state === state) && item.tag === tag
        && words.every(word => item.text.includes(word));
      item.row.hidden = !isShown;
      count += isShown;
    }
    status.textContent = count === 1 ? "1 metric" : `${count} metrics`;
    const chosen = fields.filter(field => field.value).map(field => [field.id, field.value]);
    history.replaceState(null, "", chosen.length ? `#${new URLSearchParams(chosen)}` : "#");
  };
  const readAddress = () => {
    const chosen = new URLSearchParams(location.hash.slice(1));
    for (const field of fields) field.value = chosen.get(field.id) ?? "";
    for (const field of fields) if (field.selectedIndex === -1) field.value = "";
    update();
  };
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", update);
  addEventListener("hashchange", readAddress);
  readAddress();
});
