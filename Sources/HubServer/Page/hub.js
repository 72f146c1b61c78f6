// Calls the hub's own interface in the same way as an app.

const version = "2020-06";
let session;

export const unanswered = "The hub does not answer.";

// Calls the hub. A browser's own words for a missing answer differ and help nobody.
export async function request(path, options = {}) {
  return fetch(path, { signal: AbortSignal.timeout(20_000), ...options }).catch(() => {
    throw new Error(unanswered);
  });
}

// Requests an app's values: the hub's name and a token with the Listen right.
export async function open() {
  const reply = await request("/_emulator/phone", { signal: AbortSignal.timeout(5000) });
  if (!reply.ok) throw new Error((await reply.json().catch(() => ({}))).error ?? `The hub answered ${reply.status}.`);
  session = await reply.json();
  return session;
}

async function call(method, path, body) {
  if (Date.now() / 1000 > session.expires - 300) await open();
  const ask = () => request(`/${session.hub}/${path}?api-version=${version}`, {
    method, body, headers: { Authorization: session.token, "Content-Type": "application/json" },
  });
  let reply = await ask();
  if (reply.status === 401) {
    // A restarted hub may have other keys.
    await open();
    reply = await ask();
  }
  if (!reply.ok) throw new Error(`The hub answered ${reply.status}.`);
}

// Both calls may be repeated, because the hub keeps one installation for each id.
export const register = (installation) =>
  call("PUT", `installations/${installation.installationId}`, JSON.stringify(installation));
export const unregister = (installation) => call("DELETE", `installations/${installation.installationId}`);
