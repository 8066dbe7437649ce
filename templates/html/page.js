const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const announce = (text) => { document.getElementById("status").textContent = text; };
root.classList.add("with-scripts");

/** An element with properties and children; texts stay texts. */
function create(name, properties = {}, ...children) {
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

function applyTheme() {
  const other = theme() === "dark" ? "Light" : "Dark";
  themeButton.textContent = other;
  themeButton.setAttribute("aria-label", `${other} colours`);
  redrawn.forEach((draw) => draw());
}
if (["light", "dark"].includes(remembered.get())) root.dataset.theme = remembered.get();
themeButton.addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  remembered.set(root.dataset.theme);
  applyTheme();
});
dark.addEventListener("change", applyTheme);
themeButton.parentElement.hidden = false;
applyTheme();

// Contents: open where there is room beside the report; the part that is read is marked.

const contents = document.querySelector("#contents details");
const roomy = matchMedia("(min-width: 75rem)");
const foldContents = () => { contents.open = roomy.matches; };
roomy.addEventListener("change", foldContents);
foldContents();
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
