// Keeps a tab up to date. Each overview from the hub has everything that the page shows; the stream only triggers requests.

const pause = 2000;
const pauseAfterRing = 150;

// A browser opens only six connections to a host for all tabs, so one tab reads the stream and notifies the others. Without locks
// (http from another machine) there is no stream, and each tab polls independently.
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
    // A browser that cannot store data for this address has no locks either.
  }
}

// Calls `receive` with every overview, and `lose` when the hub does not answer. Returns a function that polls at once.
export function follow(handles, receive, lose) {
  let run, after = 0, isAsking = false, isRung = false;

  // `asked` is the time of the request on this page's clock.
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
        // A restarted hub numbers its deliveries from 1 again.
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
