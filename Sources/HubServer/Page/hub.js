// The hub's own interface, as an app would call it.

const version = "2020-06";

// The hub as this page calls it.
export const hub = {
  name: "", token: "", expires: 0, throughKafka: false,

  async open() {
    const reply = await fetch("/_emulator/phone");
    if (!reply.ok) throw new Error((await reply.json().catch(() => ({}))).error ?? `status ${reply.status}`);
    const { hub: name, token, expires, throughKafka } = await reply.json();
    Object.assign(this, { name, token, expires, throughKafka });
  },

  async call(method, path, { body, headers = {} } = {}) {
    if (Date.now() / 1000 > this.expires - 300) await this.open();
    const mark = path.includes("?") ? "&" : "?";
    return fetch(`/${this.name}/${path}${mark}api-version=${version}`, {
      method, body, headers: { Authorization: this.token, ...headers },
    });
  },
};

const xml = (text) => String(text).replace(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);
const cdata = (text) => `<![CDATA[${text.replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;

const handleElements = {
  apple: (h) => `<DeviceToken>${xml(h)}</DeviceToken>`,
  fcmv1: (h) => `<FcmV1RegistrationId>${xml(h)}</FcmV1RegistrationId>`,
  windows: (h) => `<ChannelUri>${xml(h)}</ChannelUri>`,
  browser: (h) => `<Endpoint>${xml(h)}</Endpoint><P256DH>BPage</P256DH><Auth>page</Auth>`,
};
const kinds = { apple: "Apple", fcmv1: "FcmV1", windows: "Windows", browser: "Browser" };

// What each phone asks the hub to make of a template send.
const templates = {
  apple: JSON.stringify({ aps: { alert: "$(messageParam)", sound: "default" }, category: "$(category)", id: "$(id)", story: "$(story)" }),
  fcmv1: JSON.stringify({ message: {
    notification: { body: "$(messageParam)" }, data: { category: "$(category)", id: "$(id)", story: "$(story)" } } }),
  windows: `<toast launch="$(id)"><visual><binding template="ToastText02"><text id="1">$(category)</text>`
    + `<text id="2">$(messageParam)</text></binding></visual></toast>`,
  browser: JSON.stringify({ message: "$(messageParam)", category: "$(category)", id: "$(id)", tag: "$(story)" }),
};
const windowsHeaders = `<WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader>`
  + `<WnsHeader><Header>X-WNS-Tag</Header><Value>$(story)</Value></WnsHeader></WnsHeaders>`;

export function registration(platform, handle, tags, isTemplate) {
  const name = `${kinds[platform]}${isTemplate ? "Template" : ""}RegistrationDescription`;
  const extra = !isTemplate ? "" : `<BodyTemplate>${cdata(templates[platform])}</BodyTemplate>`
    + (platform === "windows" ? windowsHeaders : "") + "<TemplateName>breakingNews</TemplateName>";
  return `<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">`
    + `<${name} xmlns:i="http://www.w3.org/2001/XMLSchema-instance" `
    + `xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">`
    + `<Tags>${xml(tags.join(","))}</Tags>${handleElements[platform](handle)}${extra}</${name}></content></entry>`;
}

async function newID() {
  const reply = await hub.call("POST", "registrationids");
  const id = new URL(reply.headers.get("Location") ?? "", location.href).pathname.split("/").pop();
  if (reply.status !== 201 || !id) throw new Error(`the hub gave no registration id (${reply.status})`);
  return id;
}

// Keeps one registration true: a new id when there is none or the hub gave the old one up, then PUT.
export async function keep(state, form, body) {
  state.ids ??= {};
  for (let attempt = 0; attempt < 2; attempt += 1) {
    state.ids[form] ??= await newID();
    const reply = await hub.call("PUT", `registrations/${state.ids[form]}`, {
      body, headers: { "Content-Type": "application/atom+xml;type=entry;charset=utf-8" },
    });
    if (reply.ok) return;
    if (reply.status !== 410) throw new Error(`the hub answered ${reply.status}`);
    delete state.ids[form];
  }
  throw new Error("the hub keeps giving the registration up");
}

export async function drop(state) {
  for (const id of Object.values(state.ids ?? {})) {
    const reply = await hub.call("DELETE", `registrations/${id}`, { headers: { "If-Match": "*" } });
    if (!reply.ok && reply.status !== 404) throw new Error(`the hub answered ${reply.status}`);
  }
  state.ids = {};
}
