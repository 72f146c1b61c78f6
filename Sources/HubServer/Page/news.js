// Keeps a tab up to date: one answer of the hub holds all that the page shows, and the stream only rings for it.

const pause = 2000;
const pauseAfterRing = 150;

// A browser opens six connections to a host for all of its tabs, so one tab holds the stream and rings for the others.
// Where there are no locks (http from another machine), there is no stream, and each tab asks in its own time.
async function listen(handles, ring) {
  try {
    const others = new BroadcastChannel("newswire");
    others.onmessage = ring;
    const query = handles.map((handle) => `handle=${encodeURIComponent(handle)}`).join("&");
    await navigator.locks?.request("newswire-stream", () => new Promise(() => {
      new EventSource(`/_emulator/stream?${query}`).addEventListener("delivery", () => {
        ring();
        others.postMessage("");
      });
    }));
  } catch {
    // A browser that may store nothing for this address has no locks either.
  }
}

// Calls `receive` with every overview, and `lose` when the hub does not answer.
// Returns a function that asks at once.
export function follow(handles, receive, lose) {
  let run, after = 0, isAsking = false, isRung = false;

  // `asked` is when, on the clock of this page.
  async function overview() {
    const asked = performance.now();
    const reply = await fetch(`/_emulator/overview?after=${after}`, { signal: AbortSignal.timeout(5000) });
    if (!reply.ok) throw new Error(`status ${reply.status}`);
    return { ...await reply.json(), asked };
  }

  async function once() {
    let news;
    try {
      news = await overview();
      if (news.run !== run && after > 0) {
        // A hub that was started again numbers its deliveries anew.
        after = 0;
        news = await overview();
      }
    } catch {
      return lose();
    }
    const isNew = news.run !== run;
    run = news.run;
    after = news.delivered;
    await receive(news, isNew);
  }

  async function ask() {
    isRung = true;
    if (isAsking) return;
    isAsking = true;
    try {
      while (isRung) {
        isRung = false;
        await once();
        await new Promise((resolve) => setTimeout(resolve, pauseAfterRing));
      }
    } finally {
      isAsking = false;
    }
  }

  const askIfSeen = () => document.hidden || ask();
  listen(handles, askIfSeen);
  document.addEventListener("visibilitychange", askIfSeen);
  setInterval(askIfSeen, pause);
  ask();
  return ask;
}
