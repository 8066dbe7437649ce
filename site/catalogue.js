"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("with-scripts");
  const kept = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;

  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  function theme() {
    const button = document.getElementById("theme");
    const named = () => { button.textContent = dark() ? "Light colours" : "Dark colours"; };
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* a page that may keep nothing */ }
      named();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", named);
    named();
  }

  // A picture that is wider than its place fades where more of it lies.
  function pictures() {
    for (const place of document.querySelectorAll(".picture")) {
      const mark = () => {
        place.classList.toggle("more-left", place.scrollLeft > 1);
        place.classList.toggle("more-right", place.scrollLeft + place.clientWidth < place.scrollWidth - 1);
      };
      place.addEventListener("scroll", mark, { passive: true });
      new ResizeObserver(mark).observe(place);
    }
  }

  // Every word must be found; metrics whose id or name is or begins with it come first.
  function score(entry, words) {
    let total = 0;
    for (const word of words) {
      if (entry.id === word || entry.name === word) total += 100;
      else if (entry.id.startsWith(word) || entry.name.startsWith(word)) total += 50;
      else if (entry.id.includes(word) || entry.name.includes(word)) total += 20;
      else if (entry.doc.includes(word)) total += 5;
      else if (entry.more.includes(word)) total += 2;
      else return 0;
    }
    return total;
  }

  function search() {
    const field = document.getElementById("query");
    if (!field) return;
    const body = document.querySelector("#index tbody");
    const said = document.getElementById("found");
    const plain = text => text.normalize("NFKC").toLowerCase();
    const entries = [...body.rows].map((row, place) => ({
      row, place, id: plain(row.dataset.id), name: plain(row.dataset.name), more: plain(row.dataset.more),
      doc: plain(row.cells[2].textContent),
    }));
    const show = () => {
      const words = plain(field.value).split(/\s+/).filter(Boolean);
      for (const entry of entries) entry.score = words.length ? score(entry, words) : 1;
      const found = entries.filter(entry => entry.score);
      for (const entry of entries) entry.row.hidden = !entry.score;
      body.append(...[...entries].sort((a, b) => b.score - a.score || a.place - b.place).map(entry => entry.row));
      said.textContent = words.length ? `${found.length} of ${entries.length} found` : `${entries.length} metrics and series`;
      history.replaceState(null, "", words.length ? `#q=${encodeURIComponent(field.value)}` : location.hash.startsWith("#q=") ? "#" : location.hash);
    };
    const asked = () => {
      if (!location.hash.startsWith("#q=")) return;
      try { field.value = decodeURIComponent(location.hash.slice(3)); } catch { field.value = ""; }
      show();
    };
    field.addEventListener("input", show);
    field.addEventListener("keydown", event => {
      if (event.key === "Escape") { field.value = ""; show(); }
    });
    document.getElementById("search").addEventListener("submit", event => {
      event.preventDefault();
      const first = body.querySelector("tr:not([hidden]) a");
      if (first && field.value.trim()) location.assign(first.href);
    });
    document.addEventListener("keydown", event => {
      if (event.key === "/" && event.target === document.body) { event.preventDefault(); field.focus(); }
    });
    addEventListener("hashchange", asked);
    show();
    asked();
  }

  document.addEventListener("DOMContentLoaded", () => {
    theme();
    search();
    pictures();
    root.classList.add("complete");
  });
})();
