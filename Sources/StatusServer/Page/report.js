// Common parts of the pages of processes other than the publisher. They poll every two seconds and show a verdict and its age.

import { duration, get, past, write } from "./format.js";

const PERIOD = 2000;
let lastAnswer;

function show(status, [tone, word, title, why, todo]) {
  get("verdict").dataset.tone = tone;
  for (const [id, text] of [["state", word], ["title", title], ["why", why], ["todo", todo], ["spoken", `${word}: ${title}`]]) {
    write(get(id), text);
  }
  write(get("version"), `Newswire ${status.version}, started ${past(status.startedAt, status.at)}`);
}

function age() {
  const place = get("age");
  const old = lastAnswer === undefined ? Infinity : (performance.now() - lastAnswer) / 1000;
  place.dataset.tone = old < 10 ? "good" : "bad";
  write(place, old < 10 ? "Live" : old === Infinity ? "No answer" : `No answer for ${duration(Math.round(old))}`);
}

/**
 * @param limit how many items a list of the answer may have
 * @param verdict a status to its tone, a word, a title, why, and what to do
 * @param draw what else the page shows of a status
 */
export async function follow(limit, verdict, draw) {
  try {
    const answer = await fetch(`api/status?limit=${limit}`, { signal: AbortSignal.timeout(8000) });
    if (answer.ok) {
      const status = await answer.json();
      show(status, verdict(status));
      draw(status);
      lastAnswer = performance.now();
    }
  } catch {
    // The displayed age shows that the answer is missing.
  }
  age();
  setTimeout(() => follow(limit, verdict, draw), PERIOD);
}
