// The definition of a number beside it, as long as the pointer or the keyboard is on it. All definitions are in the list
// of words at the end of the page, which is also what screen readers are pointed to.

import { get } from "./format.js";

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
  // Below it, or above where there is no room; touching it, so that the pointer can move onto the text.
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

export function startTerms() {
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
  // A finger cannot hover: a tap shows, another one hides.
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
  // The focus may have scrolled the page to where it is.
  addEventListener("scroll", place, { passive: true, capture: true });
}

/** Turns a heading into one that explains itself. */
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
