// Where the news is blocked, why, and the remedy: one verdict for the page, and one state for each station of its map.

import { stopOf } from "./control.js";
import { reasons } from "./facts.js";
import { duration, number, rate, sentence, sum, time } from "./format.js";

/** The stations of waits. A wait that is not listed belongs to its lane. */
const wherever = { reply: "hub", results: "outcomes", "dead-letters": "outcomes", commit: "outcomes" };

/** Remedies for reasons whose command in /readyz has buttons on this page. */
const release = "Look at the dead letters; once their cause is mended, press “Send the rest”, or “Dead-letter the rest”";

/** Waits that are no fault but delay a lane for a moment. */
const passing = {
  ledger: ["Restoring", "Lane LANE reads back what is already sent"],
  revoke: ["Handing over", "Lane LANE hands partitions over"],
  time: ["Asking the time", "Lane LANE waits for the hub’s time before an event expires or an embargo ends"],
  "new-incarnation": ["Topic is new", "A topic of lane LANE was created again"],
};

/**
 * @param point the newest of `history.js`
 * @param before the status before it
 */
export function condition(point, before) {
  const { status } = point;
  const causes = findCauses(status, point, before);
  return { ...verdict(point, causes), causes, stations: stations(point, causes) };
}

/** Finds the causes of a blockage: a fault (`bad`), a wait (`warn`), and if news still flows (`isOpen`). */
function findCauses(status, point, before) {
  const causes = [];
  const add = (cause) => {
    const { place, lane, title, why, todo } = cause;
    if (causes.some((known) => known.place === place && known.lane === lane && known.title === title)) return;
    causes.push({
      tone: "warn", ...cause, why: sentence(why), todo: sentence(todo || "Nothing: it continues automatically"),
    });
  };
  addReasons(status, add);
  for (const lane of status.lanes) addLaneWaits(status, lane, causes, add);
  if (causes.some((cause) => cause.tone === "bad")) return causes;
  addLimits(point, add);
  if (before && status.kafka.errors > before.kafka.errors && !point.rate) {
    add({
      place: "topics", word: "Errors", title: "Kafka reports errors",
      why: status.kafka.lastError ?? "It gave no reason", todo: "Look at the brokers; the client tries again by itself",
    });
  }
  if (!causes.length && point.rate === 0 && isLate(status)) {
    const wait = status.waits.find((wait) => wait.lane);
    if (wait) add({
      place: wherever[wait.reason] ?? "lane", lane: wait.lane, word: "Waiting", title: `Lane ${wait.lane} waits`,
      why: wait.detail,
    });
  }
  return causes;
}

/** Adds the reasons of /readyz. */
function addReasons(status, add) {
  if (status.stuck) add({
    place: "process", tone: "bad", word: "Stuck", title: "The process is stuck", why: status.stuck,
    todo: "Restart the process, and report this",
  });
  else if (!status.healthy || (!status.ready && !status.notReady.length)) add({
    place: "process", tone: "bad", word: "Not ready", title: "The process is not ready", why: "It gives no reason",
    todo: "Look at its log",
  });
  const hasPartitions = status.lanes.some((lane) => lane.partitions !== undefined);
  for (const { code, detail, remedy, lane } of status.notReady) {
    // A hub that requests a pause accepts nothing during it.
    if (code === "hub-failing" && status.notReady.some((reason) => reason.code === "hub-pause")) continue;
    const isStop = code === "stopped";
    const [place, word, title] = isStop ? stop(detail) : wordsOf(code);
    const isOf = (halt) => code === (halt.reason === "flood" ? "flood" : `hub-${halt.reason}`) && halt.lane === lane;
    const halt = status.halts.find(isOf);
    const next = halt && halt.reason !== "flood" ? `; next attempt at ${time(halt.probeAt)}` : "";
    const isEnd = code === "shutting-down";
    // Once lanes are read, a missing topic without a lane is one that the service writes.
    const isWritten = code === "missing-topic" && !lane && hasPartitions;
    add({
      place: isWritten ? "outcomes" : place,
      isOpen: isWritten || reasons[code]?.letsNewsPass || word === "Partly stopped"
        || (["control-stale", "control-transaction"].includes(code) && !detail.includes("nothing is sent")),
      // Every lane reports the hub's reasons, so they are shown without a lane.
      lane: place === "hub" ? undefined : lane,
      word, title: title.replace("LANE", () => lane),
      // An order by a person is no fault.
      tone: isEnd || isStop || code === "hub-pause" ? "warn" : "bad",
      why: sentence((isStop && stopOf(gates(detail)[0] ?? "")) || (halt?.detail ?? detail.replace(`lane ${lane}: `, "")))
        + (halt ? ` Since ${time(halt.since)}${next}.` : ""),
      todo: isEnd ? "Nothing: what was sent is recorded, then the process ends"
        : isStop && place === "hub" ? "Press “Resume the hub” when news may go out again"
        : isStop ? "Resume it in the list of orders when it may go on"
        : halt?.reason === "flood" ? release : remedy,
    });
  }
}

/** @returns the station, the badge and the headline of a reason; LANE in a headline stands for the lane's name */
function wordsOf(code) {
  const { station = "process", badge = "Not ready", headline = "Not ready" } = reasons[code] ?? {};
  return [station, badge, headline];
}

const gates = (detail) => detail.match(/editors: ([^;]*)/)?.[1].split(", ") ?? [];

/** The subject of editors' stop orders: everything, a lane, or a part of a lane. */
function stop(detail) {
  const closed = gates(detail);
  if (closed.includes("hub")) return ["hub", "Stopped", "The hub is stopped by an order"];
  if (closed.some((gate) => gate.startsWith("lane:"))) return wordsOf("stopped");
  return ["lane", "Partly stopped", `Editors have stopped ${closed.join(", ")} on lane LANE`];
}

/** Adds the causes that delay one lane but are no fault. */
function addLaneWaits(status, { name: lane, paused, partitions }, causes, add) {
  if (paused) add({
    place: "lane", lane, word: "Paused", title: `Lane ${lane} is paused`, why: "An operator paused it in this process",
    todo: "Press Resume when it may go on",
  });
  if (causes.some((cause) => cause.lane === lane)) return;
  for (const [reason, [word, title]] of Object.entries(passing)) {
    const wait = status.waits.find((wait) => wait.lane === lane && wait.reason === reason);
    if (wait) add({ place: "lane", lane, word, title: title.replace("LANE", () => lane), why: wait.detail });
  }
  if (partitions === undefined && !causes.some((cause) => cause.tone === "bad")) {
    add({
      place: "topics", lane, word: "Rebalancing", title: "The group assigns its partitions again",
      why: `Lane ${lane} waits for its part: a process has joined or left`, todo: "Nothing: it takes some seconds",
    });
  }
}

function addLimits({ status, limit }, add) {
  if (status.limitedBy.includes("hub-pause")) {
    const wait = status.waits.find((wait) => wait.reason === "hub-pause");
    add({
      place: "hub", word: "Asked to wait", title: reasons["hub-pause"].headline,
      why: wait?.detail ?? "It named a time after which it takes requests again",
    });
  }
  if (limit === "broker") {
    add({ place: "outcomes", isOpen: true, word: "Slow", title: "The results topic holds the sending up",
      why: "The broker stores results more slowly than the hub accepts events",
      todo: "Look at the brokers; more processes do not help" });
  }
  if (limit === "rate") {
    add({ place: "hub", isOpen: true, word: "At its pace", title: "Sending at the configured pace",
      why: `The setting rate.perSecond allows ${number(status.rate?.perSecond)} requests a second over all processes`,
      todo: "Nothing, unless the hub’s tier allows a higher rate" });
  }
  if (limit === "concurrency") {
    add({ place: "hub", isOpen: true, word: "At its limit", title: "Sending as fast as the hub answers",
      why: `${number(status.inFlight)} of ${number(status.concurrencyLimit)} requests are open, `
        + "as many as the hub bears or the settings allow",
      todo: "Nothing: more processes do not help" });
  }
}

/** True if events have waited longer than it takes to count and commit them. */
const isLate = (status) => status.lanes.some((lane) => lane.lagSeconds > 10);

/** True once all lanes are measured, which happens every few seconds and only with assigned partitions. */
const isCounted = (status) => status.lanes.every((lane) => lane.lag !== undefined);

const behind = (status) => sum(status.lanes.map((lane) => lane.lag ?? 0));

/** Ranks a fault before a wait, a blockage before a threat, and what blocks every lane before what blocks one. */
function worstOf(causes) {
  const faults = causes.filter((cause) => cause.tone === "bad");
  const blockages = faults.filter((cause) => !cause.isOpen);
  return blockages.find((cause) => !cause.lane) ?? blockages[0] ?? faults[0] ?? causes.find((cause) => !cause.isOpen) ?? causes[0];
}

/** Describes causes that affect everything, or only one lane. */
function verdict(point, causes) {
  const { status } = point;
  const worst = worstOf(causes);
  if (!worst) return fine(point);
  const isStopped = (lane) => causes.some((cause) => (cause.lane ?? lane) === lane && !cause.isOpen);
  const others = status.lanes.filter((lane) => !isStopped(lane.name)).map((lane) => lane.name);
  const isPart = worst.lane && !worst.isOpen && others.length > 0;
  const rest = isPart ? " The other lanes go on." : "";
  return {
    state: stateWord(worst, isPart), tone: worst.tone, title: worst.title, why: worst.why + rest + queue(point),
    todo: worst.todo,
  };
}

function stateWord({ tone, word, place, isOpen }, isPart) {
  if (tone === "bad" && isOpen) return "Needs attention";
  if (tone === "bad") return isPart ? "Partly standing still" : "Standing still";
  if (word === "Stopped") return isPart ? "Partly stopped" : "Stopped";
  if (word === "Paused") return isPart ? "Partly paused" : "Paused";
  if (place === "process") return word;
  return isOpen ? "Limited" : "Waiting";
}

function fine(point) {
  const { status } = point;
  const why = queue(point).trim();
  if (point.rate > 0) {
    // Events that arrived in the last moments are in progress, not late.
    const keepsUp = behind(status) <= Math.max(10, 3 * point.rate) && !isLate(status);
    const speed = rate(point.rate);
    const title = speed === "1" ? "1 event a second" : `${speed} events a second`;
    if (!isCounted(status)) {
      return { state: "Sending", tone: "good", title, why: "Those that wait are being counted.", todo: "Nothing." };
    }
    return {
      state: "Sending", tone: "good", title, why: keepsUp ? "All lanes keep up." : why,
      todo: keepsUp ? "Nothing."
        : "No limit of this process is reached. If the queue grows, look at the brokers, or start another process.",
    };
  }
  if (!isCounted(status) || (point.rate === undefined && behind(status))) {
    return { state: "Measuring", tone: "idle", title: "The first numbers come in a moment", why, todo: "Nothing." };
  }
  const title = "Events wait, and nothing has an outcome yet";
  const waits = { state: "Waiting", title, why: `${why} No reason is known.` };
  if (isLate(status)) {
    return { ...waits, tone: "warn", todo: "Wait some seconds; /healthz tells whether the process is stuck." };
  }
  if (behind(status) > 10) return { ...waits, tone: "idle", todo: "Nothing: they have only just come." };
  return { state: "Idle", tone: "idle", title: "Nothing to send", why: "All lanes have caught up.", todo: "Nothing." };
}

function queue({ status, rate: speed, lanes }) {
  const waiting = behind(status);
  if (!waiting) return "";
  const shrinking = -sum(Object.values(lanes).map((lane) => lane.trend || 0));
  const end = speed > 0 && shrinking > 0.5
    ? `, gone in about ${duration(Math.max(1, Math.round(waiting / shrinking)))}`
    : "";
  return ` ${waiting === 1 ? "1 event waits" : `${number(waiting)} events wait`}${end}.`;
}

/** Each station's tone, badge, and flow or blockage. Nothing flows behind a blockage. */
function stations(point, causes) {
  const at = (place, lane, moves, waits) => {
    const isHere = (cause) => cause.place === place && (lane === undefined || (cause.lane ?? lane) === lane);
    const cause = worstOf(causes.filter(isHere));
    if (cause) {
      const { tone, word, isOpen } = cause;
      return { tone, word, flow: isOpen ? moves : 0, stop: isOpen ? undefined : tone };
    }
    const word = moves > 0 ? "Flowing" : waits > 0 ? "Waiting" : "Idle";
    return { tone: moves > 0 ? "good" : "idle", word, flow: moves };
  };
  const hub = at("hub", undefined, point.requests ?? 0);
  const lanes = point.status.lanes.map(({ name, lag }) => {
    const moves = hub.stop ? 0 : point.lanes[name].rate ?? 0;
    const lane = at("lane", name, moves, lag);
    return { topics: at("topics", name, lane.stop ? 0 : moves, lag), lane };
  });
  return { lanes, hub, outcomes: at("outcomes", undefined, hub.stop ? 0 : point.rate ?? 0) };
}
