// Each platform's view of a notification: its text, its category, what it replaces, and if it makes a sound.

// Payloads may contain anything. Members that are missing, null or of the wrong type count as empty.
const object = (value) => (value && typeof value === "object" ? value : {});
const parse = (text) => { try { return object(JSON.parse(text)); } catch { return {}; } };
const string = (value) => (typeof value === "string" ? value : "");
const both = (title, body) => string(title) || string(body);
// Phones show titles above the text. A text that ends with its title, as in “Breaking World News : …”, is shown once.
const joined = (...texts) => texts.map(string)
  .filter((text, index, all) => text && !all.slice(0, index).some((earlier) => earlier && text.endsWith(earlier))).join(": ");

function header(delivery, name) {
  const key = Object.keys(object(delivery.headers)).find((key) => key.toLowerCase() === name);
  return key && delivery.headers[key];
}

const read = {
  apple(delivery) {
    const body = parse(delivery.body);
    const alert = body.aps?.alert ?? body.alert;
    const text = string(alert) || joined(alert?.title, alert?.subtitle, alert?.body);
    return {
      text, category: body.category ?? body.aps?.["thread-id"],
      replaces: header(delivery, "apns-collapse-id") || body.story || body.id,
      isQuiet: body.aps?.["interruption-level"] === "passive",
    };
  },
  fcmv1(delivery) {
    const message = object(parse(delivery.body).message);
    const [notification, data, android] = [message.notification, message.data, message.android].map(object);
    const text = joined(notification.title, notification.body ?? data.message);
    return {
      text, category: data.category,
      replaces: android.notification?.tag || android.collapse_key || data.story || data.id,
      isQuiet: data.quiet === "true",
    };
  },
  windows(delivery) {
    const toast = new DOMParser().parseFromString(delivery.body ?? "", "text/xml");
    const launch = toast.documentElement.getAttribute("launch") ?? "";
    const data = parse(launch);
    const [title, body, category] = Array.from(toast.querySelectorAll("text"), (node) => node.textContent);
    return {
      text: both(title, body), category: data.category ?? category,
      replaces: header(delivery, "x-wns-tag") || data.story || data.id || launch,
      isQuiet: toast.querySelector("audio")?.getAttribute("silent") === "true",
    };
  },
  browser(delivery) {
    const body = parse(delivery.body);
    return {
      text: both(body.title, body.message ?? body.body), category: body.category,
      replaces: body.tag || body.story || body.id,
      isQuiet: body.quiet === "true",
    };
  },
};

// The category is omitted if the text begins with it, as in “Breaking World News : …”.
export function notification(platform, delivery) {
  const { text, category, replaces, isQuiet } = read[platform](delivery);
  const shown = /^Breaking .+ News/.test(text) ? "" : string(category);
  return { text, category: shown, replaces: string(replaces), isQuiet: Boolean(isQuiet) };
}
