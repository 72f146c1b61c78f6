/// The page's script: plain modern JavaScript, one module.
let pageScript = #"""
    const categories = ["World", "Politics", "Business", "Technology", "Science", "Sports"];
    const platforms = {
      apple: { name: "iPhone", label: "APNs", first: ["World", "Sports"] },
      fcmv1: { name: "Android", label: "FCM v1", first: ["World", "Technology"] },
      windows: { name: "Windows", label: "WNS", first: ["Business"] },
      browser: { name: "Browser", label: "Web Push", first: ["Science", "Politics"] },
    };
    const version = "2020-06";
    const kept = 30;
    const clockFormat = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
    const $ = (id) => document.getElementById(id);

    // ---- What this browser remembers ----------------------------------------------------------------------------------

    const memory = {
      load(platform) {
        try { return JSON.parse(localStorage.getItem(`newswire.phone.${platform}`)) ?? {}; } catch { return {}; }
      },
      save(platform, state) {
        try { localStorage.setItem(`newswire.phone.${platform}`, JSON.stringify(state)); } catch { /* private windows */ }
      },
    };

    function randomHex(bytes) {
      return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (b) => b.toString(16).padStart(2, "0")).join("");
    }

    function newHandle(platform) {
      const id = randomHex(32);
      if (platform === "windows") return `https://wns.example/?token=${id}`;
      if (platform === "browser") return `https://push.example/send/${id}`;
      return platform === "apple" ? id.toUpperCase() : `fcm-${id}`;
    }

    // ---- The hub's own interface --------------------------------------------------------------------------------------

    const hub = {
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

    function registration(platform, handle, tags, isTemplate) {
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
    async function keep(state, form, body) {
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

    async function drop(state) {
      for (const id of Object.values(state.ids ?? {})) {
        const reply = await hub.call("DELETE", `registrations/${id}`, { headers: { "If-Match": "*" } });
        if (!reply.ok && reply.status !== 404) throw new Error(`the hub answered ${reply.status}`);
      }
      state.ids = {};
    }

    // ---- What a phone makes of a payload ------------------------------------------------------------------------------

    function header(delivery, name) {
      const key = Object.keys(delivery.headers).find((k) => k.toLowerCase() === name);
      return key && delivery.headers[key];
    }

    const parse = (text) => { try { return JSON.parse(text); } catch { return {}; } };

    const shows = {
      apple(delivery) {
        const body = parse(delivery.body);
        const alert = body.aps?.alert ?? body.alert ?? "";
        const text = typeof alert === "string" ? alert : [alert.title, alert.body].filter(Boolean).join(": ");
        return { text, category: body.category ?? body.aps?.["thread-id"], replaces: header(delivery, "apns-collapse-id") || body.story || body.id };
      },
      fcmv1(delivery) {
        const { notification = {}, data = {}, android = {} } = parse(delivery.body).message ?? {};
        const text = [notification.title, notification.body ?? data.message].filter(Boolean).join(": ");
        return { text, category: data.category, replaces: android.notification?.tag || android.collapse_key || data.story || data.id };
      },
      windows(delivery) {
        const toast = new DOMParser().parseFromString(delivery.body ?? "", "text/xml");
        const launch = toast.documentElement.getAttribute("launch") ?? "";
        const data = parse(launch);
        const texts = Array.from(toast.querySelectorAll("text"), (node) => node.textContent);
        const category = data.category ?? (texts.length > 1 ? texts[0] : undefined);
        const text = (texts.length > 1 ? texts.slice(1) : texts).join(" ");
        return { text, category, replaces: header(delivery, "x-wns-tag") || data.story || data.id || launch };
      },
      browser(delivery) {
        const body = parse(delivery.body);
        const text = [body.body && body.title, body.message ?? body.body ?? body.title].filter(Boolean).join(": ");
        return { text, category: body.category, replaces: body.tag || body.story || body.id };
      },
    };

    // ---- One phone ----------------------------------------------------------------------------------------------------

    class Phone {
      constructor(platform) {
        this.platform = platform;
        this.state = memory.load(platform);
        this.state.handle ??= newHandle(platform);
        this.state.chosen ??= platforms[platform].first;
        this.seen = 0;
        memory.save(platform, this.state);
        this.build();
      }

      build() {
        this.element = $("phone-template").content.firstElementChild.cloneNode(true);
        this.element.classList.add(this.platform);
        this.element.setAttribute("aria-label", platforms[this.platform].name);
        this.find(".name").textContent = platforms[this.platform].name;
        this.find(".platform").textContent = platforms[this.platform].label;
        this.list = this.find(".notifications");
        this.list.setAttribute("aria-label", `Notifications on ${platforms[this.platform].name}`);
        for (const category of categories) {
          const label = document.createElement("label");
          label.className = "switch";
          const input = Object.assign(document.createElement("input"), { type: "checkbox", value: category });
          input.setAttribute("role", "switch");
          input.checked = this.state.chosen.includes(category);
          const slider = Object.assign(document.createElement("span"), { className: "slider" });
          label.append(Object.assign(document.createElement("span"), { textContent: category }), input, slider);
          this.find(".switches").append(label);
        }
        this.find(".app").addEventListener("change", () => {
          this.state.chosen = this.chosen();
          memory.save(this.platform, this.state);
          this.describe();
        });
        this.find(".app").addEventListener("submit", (event) => {
          event.preventDefault();
          this.subscribe(this.chosen());
        });
        this.describe();
      }

      find(selector) { return this.element.querySelector(selector); }

      chosen() { return Array.from(this.element.querySelectorAll(".switch input:checked"), (input) => input.value); }

      say(text, mood = "") {
        const state = this.find(".state");
        state.textContent = text;
        state.className = `state ${mood}`;
      }

      describe() {
        const { subscribed, chosen } = this.state;
        if (!subscribed?.length) return this.say(chosen.length ? "Not subscribed yet." : "Choose what you want to hear about.");
        if (subscribed.join() !== chosen.join()) return this.say("Press Subscribe to keep your changes.");
        this.say(`Subscribed to ${new Intl.ListFormat("en").format(subscribed)}.`, "good");
      }

      async subscribe(tags) {
        const button = this.find("button");
        button.disabled = true;
        try {
          if (tags.length) {
            await keep(this.state, "template", registration(this.platform, this.state.handle, tags, true));
            await keep(this.state, "native", registration(this.platform, this.state.handle, tags, false));
          } else {
            await drop(this.state);
          }
          this.state.subscribed = tags;
          this.describe();
        } catch (error) {
          this.say(`Not registered: ${error.message}.`, "bad");
        } finally {
          memory.save(this.platform, this.state);
          button.disabled = false;
        }
      }

      // Shows what arrived while nobody looked.
      async catchUp() {
        const reply = await fetch(`/_emulator/devices/${encodeURIComponent(this.state.handle)}`);
        if (reply.ok) for (const delivery of (await reply.json()).deliveries.slice(-kept)) this.show(delivery);
      }

      show(delivery) {
        if (delivery.number <= this.seen || delivery.outcome !== "Success") return;
        this.seen = delivery.number;
        const { text, category, replaces } = shows[this.platform](delivery);
        if (!text) return;
        const item = $("notification-template").content.firstElementChild.cloneNode(true);
        const old = replaces && Array.from(this.list.children).find((other) => other.dataset.replaces === replaces);
        item.dataset.replaces = replaces ?? "";
        item.querySelector(".tag").textContent = category || "News";
        item.querySelector(".text").textContent = text;
        item.querySelector(".updated").hidden = !old || old.querySelector(".text").textContent === text;
        const time = item.querySelector("time");
        time.dateTime = delivery.time;
        time.textContent = new Date(delivery.time).toLocaleTimeString([], clockFormat);
        old?.remove();
        this.list.prepend(item);
        while (this.list.children.length > kept) this.list.lastElementChild.remove();
      }
    }

    // ---- The composer -------------------------------------------------------------------------------------------------

    const stories = [];

    function buildComposer() {
      for (const [index, category] of categories.entries()) {
        const label = document.createElement("label");
        label.className = "chip";
        const input = Object.assign(document.createElement("input"), { type: "radio", name: "category", value: category });
        input.checked = index === 0;
        label.append(input, Object.assign(document.createElement("span"), { textContent: category }));
        $("composer-categories").append(label);
      }
      $("corrects").addEventListener("change", () => {
        const story = stories.find((known) => known.story === $("corrects").value);
        if (!story) return;
        $("composer").elements.category.value = story.category;
        $("headline").value = story.headline;
        $("headline").select();
      });
      $("composer").addEventListener("submit", send);
    }

    async function send(event) {
      event.preventDefault();
      const form = $("composer");
      const button = form.querySelector("button");
      const story = { category: form.elements.category.value, headline: form.elements.headline.value.trim(), story: form.elements.corrects.value };
      if (!story.headline) return;
      button.disabled = true;
      const hint = $("composer-hint");
      hint.classList.remove("bad");
      try {
        const reply = await fetch("/_emulator/stories", {
          method: "POST", body: JSON.stringify(story), headers: { "Content-Type": "application/json" } });
        const answer = await reply.json();
        if (!reply.ok) throw new Error(answer.error);
        hint.textContent = hub.throughKafka ? "On its way through Kafka." : "Accepted by the hub.";
        remember({ ...story, story: answer.story });
        form.elements.headline.value = "";
        form.elements.corrects.value = "";
      } catch (error) {
        hint.textContent = `Not sent: ${error.message}`;
        hint.classList.add("bad");
      } finally {
        button.disabled = false;
        form.elements.headline.focus();
      }
    }

    function remember(story) {
      const index = stories.findIndex((known) => known.story === story.story);
      if (index >= 0) stories.splice(index, 1);
      stories.unshift(story);
      stories.length = Math.min(stories.length, 8);
      const select = $("corrects");
      select.replaceChildren(select.firstElementChild, ...stories.map(({ story: id, headline }) =>
        Object.assign(document.createElement("option"), { value: id, textContent: `a correction of “${headline.slice(0, 40)}”` })));
    }

    // ---- Start --------------------------------------------------------------------------------------------------------

    async function refreshStatus() {
      const status = $("status");
      try {
        const { received, delivered, registrations } = await (await fetch("/_emulator/status")).json();
        const counts = [[received, "send"], [delivered, "delivery", "deliveries"], [registrations, "registration"]]
          .map(([n, one, many = `${one}s`]) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`);
        status.textContent = `Hub ${hub.name} · ${counts.join(" · ")}`;
        status.classList.remove("bad");
      } catch {
        status.textContent = "The hub does not answer.";
        status.classList.add("bad");
      }
      const time = new Date().toLocaleTimeString([], clockFormat);
      for (const clock of document.querySelectorAll(".clock")) clock.textContent = time;
    }

    async function start() {
      buildComposer();
      try { await hub.open(); } catch (error) {
        $("status").textContent = error.message;
        $("status").classList.add("bad");
        return;
      }
      const phones = Object.keys(platforms).map((platform) => new Phone(platform));
      $("phones").append(...phones.map((phone) => phone.element));
      const query = phones.map((phone) => `handle=${encodeURIComponent(phone.state.handle)}`).join("&");
      // A hub may have forgotten us: what was subscribed is registered again at every start.
      await Promise.all(phones.map((phone) => phone.state.subscribed?.length && phone.subscribe(phone.state.subscribed)));
      const stream = new EventSource(`/_emulator/stream?${query}`);
      // At first everything is older than the stream; after a cut the stream itself repeats what was missed.
      stream.addEventListener("open", () => phones.forEach((phone) => phone.catchUp().catch(() => {})), { once: true });
      stream.addEventListener("delivery", (event) => {
        const delivery = JSON.parse(event.data);
        phones.find((phone) => phone.state.handle === delivery.handle)?.show(delivery);
      });
      await refreshStatus();
      setInterval(refreshStatus, 2000);
      document.documentElement.dataset.ready = "true";
    }

    start();
    """#
