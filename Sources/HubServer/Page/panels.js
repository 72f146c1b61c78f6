// The panels beside the phones: what was sent, what goes wrong on request, and what to copy.

import { clockFormat } from "/phone.js";

const $ = (id) => document.getElementById(id);

const made = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text });

// ---- Sends ----------------------------------------------------------------------------------------------------------

// A send's outcome in words.
export function outcome({ refused, state, phones, failed }) {
  if (refused) {
    const text = refused === "reset" ? "connection reset" : `refused, ${refused}`;
    return { text, mood: "bad", isFinal: false };
  }
  const text = [`${phones} ${phones === 1 ? "phone" : "phones"}`, ...failed].join(", ");
  if (state === "Scheduled" || state === "Canceled") return { text: state.toLowerCase(), mood: "", isFinal: true };
  if (state !== "Completed" && state !== "NoTargetFound") return { text: `${text} so far`, mood: "", isFinal: false };
  return { text, mood: failed.length ? "bad" : phones ? "good" : "warn", isFinal: true };
}

let shown = "";

export function showSends(sends) {
  const now = JSON.stringify(sends);
  if (now === shown) return;
  shown = now;
  $("no-sends").hidden = sends.length > 0;
  $("sends").replaceChildren(...sends.map((send) => {
    const row = document.createElement("tr");
    const { text, mood } = outcome(send);
    const time = new Date(send.time).toLocaleTimeString([], { ...clockFormat, second: "2-digit" });
    row.append(
      made("td", "time", time), made("td", "tag", send.category ?? send.tags ?? "everyone"),
      made("td", "headline", send.headline), made("td", `outcome ${mood}`, text));
    return row;
  }));
}

// ---- Faults ---------------------------------------------------------------------------------------------------------

const faults = [
  ["answers 503", { status: 503, retryAfter: 2, on: "sends" }],
  ["answers 429", { status: 429, retryAfter: 2, on: "sends" }],
  ["is 250 ms slow", { latencyMs: 250, on: "sends" }],
  ["expires tokens", { expired: true, on: "all" }],
  ["cuts connections", { reset: "before", on: "sends" }],
];
let set = [];
const key = (fault) => JSON.stringify(Object.entries(fault).sort());

async function change(fault, isOn) {
  const post = (body) => fetch("/_emulator/faults", { method: "POST", body: JSON.stringify(body) });
  if (isOn) return post(fault);
  // Faults are cleared together, so the others are set again.
  await fetch("/_emulator/faults", { method: "DELETE" });
  const others = set.filter((other) => key(other) !== key(fault));
  if (others.length) await post(others);
}

// - changed: called after every change.
export function buildFaults(changed) {
  $("faults").append(...faults.map(([name, fault]) => {
    const label = made("label", "switch", "");
    const input = Object.assign(document.createElement("input"), { type: "checkbox", value: key(fault) });
    input.setAttribute("role", "switch");
    input.addEventListener("change", async () => {
      try { await change(fault, input.checked); } catch { $("faults-hint").textContent = "The hub does not answer."; }
      changed();
    });
    label.append(input, made("span", "slider", ""), made("span", "", name));
    return label;
  }));
}

export function showFaults(now) {
  set = now;
  const keys = set.map(key);
  for (const input of $("faults").querySelectorAll("input")) input.checked = keys.includes(input.value);
  const others = keys.filter((one) => !faults.some(([, fault]) => key(fault) === one)).length;
  const text = others ? `and ${others} set over /_emulator/faults` : "";
  if ($("faults-hint").textContent !== text) $("faults-hint").textContent = text;
}

// ---- What to copy ---------------------------------------------------------------------------------------------------

export function buildCopying(announce) {
  for (const button of document.querySelectorAll("[data-copies]")) {
    const field = $(button.dataset.copies);
    const words = button.firstChild;
    button.addEventListener("click", async () => {
      field.select();
      // The clipboard is missing over http from another machine; the text is selected for Ctrl-C then.
      const isCopied = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
      words.data = isCopied ? "Copied" : "Selected";
      announce(isCopied ? "Copied." : "Selected, to be copied with Ctrl-C.");
      setTimeout(() => { words.data = "Copy"; }, 2000);
    });
  }
}

// A hub that was started again may have another key.
export async function refreshCopies() {
  const reply = await fetch("/");
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  for (const id of ["connection", "next"]) $(id).value = page.getElementById(id)?.getAttribute("value") ?? "";
}
