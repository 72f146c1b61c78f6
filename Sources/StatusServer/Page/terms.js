// Shows the definition of a figure next to it, while the pointer or the focus is on it. All definitions are in the list of words
// at the end of the page, to which screen readers are referred.

import { outcomes } from "./facts.js";
import { element, get, sentence } from "./format.js";
import { namesOf } from "./history.js";

const tip = () => get("tip");
let owner;
let leaving;

function show(target) {
  clearTimeout(leaving);
  owner = target;
  tip().textContent = get(`term-${target.dataset.term}`).textContent;
  tip().hidden = false;
  place();
}

function place() {
  if (!owner) return;
  const at = owner.getBoundingClientRect();
  const own = tip().getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left), document.documentElement.clientWidth - own.width - 8);
  // The tip is below the term, or above it if there is no room. It touches the term, so that the pointer can move onto the tip.
  const isBelow = at.bottom + own.height + 8 < document.documentElement.clientHeight;
  tip().style.left = `${left}px`;
  tip().style.top = `${isBelow ? at.bottom : Math.max(0, at.top - own.height)}px`;
}

function hide() {
  clearTimeout(leaving);
  owner = undefined;
  tip().hidden = true;
}

const term = (node) => node instanceof Element && node.closest("[data-term]");

/** Adds the definitions of the outcomes. */
function addOutcomes() {
  get("outcome-terms").append(...Object.entries(outcomes).map(([name, { meaning }]) => {
    const entry = element("div");
    const definition = element("dd", `${sentence(meaning.replaceAll("`", ""))}`);
    definition.id = `term-${name}`;
    entry.append(element("dt", name), definition);
    return entry;
  }));
  for (const list of document.querySelectorAll("[data-outcomes]")) {
    const names = namesOf(list.dataset.outcomes);
    list.textContent = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  }
}

export function startTerms() {
  addOutcomes();
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const target = term(event.target);
    if (target) return target === owner ? clearTimeout(leaving) : show(target);
    clearTimeout(leaving);
    if (owner && !tip().contains(event.target)) leaving = setTimeout(hide, 150);
  });
  document.addEventListener("focusin", (event) => (term(event.target)?.matches(":focus-visible")
    ? show(term(event.target))
    : hide()));
  document.addEventListener("focusout", hide);
  // Touch screens have no hover, so a tap shows the tip and another tap hides it.
  document.addEventListener("click", (event) => {
    const target = term(event.target);
    if (target && target !== owner) show(target);
    else if (target || !tip().contains(event.target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !owner) return;
    hide();
    event.preventDefault();
  });
  // The focus may have scrolled the page.
  addEventListener("scroll", place, { passive: true, capture: true });
}

/** Turns a heading into a button that shows its definition. */
export function explained(name, text) {
  if (!get(`term-${name}`)) return document.createTextNode(text);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "term";
  button.dataset.term = name;
  button.setAttribute("aria-describedby", `term-${name}`);
  button.textContent = text;
  return button;
}
