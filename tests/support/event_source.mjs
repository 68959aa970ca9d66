// An EventSource after the letter of the HTML standard (section 9.2), over fetch: this runtime has none of its own.
// Run: node event_source.mjs URL SESSION TURN KEY ORIGIN CUT_AFTER; prints what the page heard as one JSON object.

class Source extends EventTarget {
  constructor(url, origin) {
    super();
    Object.assign(this, { url, origin, readyState: 0, retryMs: 50, lastEventId: "" });
    this.run();
  }

  close() {
    this.readyState = 2;
    this.stop?.abort();
  }

  async run() {
    while (this.readyState !== 2) {
      this.stop = new AbortController();
      try {
        if (!(await this.connect())) return this.fail();
      } catch (error) {
        if (this.readyState === 2) return;
      }
      if (this.readyState === 2) return;
      this.readyState = 0;
      this.dispatchEvent(new Event("error"));
      await new Promise((over) => setTimeout(over, this.retryMs));
    }
  }

  async connect() {
    const headers = { Accept: "text/event-stream" };
    if (this.origin) headers.Origin = this.origin;
    if (this.lastEventId) headers["Last-Event-ID"] = this.lastEventId;
    const response = await fetch(this.url, { headers, cache: "no-store", signal: this.stop.signal });
    const type = (response.headers.get("content-type") ?? "").split(";")[0].trim();
    if (response.status !== 200 || type !== "text/event-stream") {
      this.status = response.status;
      return false;
    }
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
    await this.read(response.body);
    return true;
  }

  fail() {
    this.readyState = 2;
    this.dispatchEvent(new Event("error"));
  }

  async read(body) {
    const decoder = new TextDecoder("utf-8"); // takes a leading byte order mark away, as the standard says
    let rest = "";
    this.begin();
    for await (const chunk of body) {
      rest += decoder.decode(chunk, { stream: true });
      for (let end; (end = /\r\n|\n|\r(?!$)/.exec(rest)); rest = rest.slice(end.index + end[0].length)) {
        this.line(rest.slice(0, end.index));
        if (this.stop.signal.aborted) return;
      }
    }
  }

  begin() {
    Object.assign(this, { data: "", type: "", id: this.lastEventId });
  }

  line(text) {
    if (text === "") return this.dispatch();
    if (text.startsWith(":")) return undefined;
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.type = value;
    else if (name === "data") this.data += value + "\n";
    else if (name === "id" && !value.includes("\0")) this.id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  dispatch() {
    this.lastEventId = this.id;
    const { data, type } = this;
    Object.assign(this, { data: "", type: "" });
    if (data === "") return;
    const event = new Event(type || "message");
    Object.assign(event, { data: data.slice(0, -1), lastEventId: this.lastEventId });
    this.dispatchEvent(event);
  }
}

// A page that has sent a message: it asks for a ticket, listens, and comes back with a new ticket when it was cut off.
const [base, session, turn, key, origin, cutAfter] = process.argv.slice(2);
const events = `${base}/v1/sessions/${session}/turns/${turn}`;
const told = { opened: 0, refused: [], ids: [], events: [], text: "" };

async function ticket() {
  const headers = { Authorization: `Bearer ${key}`, Origin: origin };
  const response = await fetch(`${events}/ticket`, { method: "POST", headers });
  return (await response.json()).ticket;
}

async function listen(after) {
  const from = after ? `&last_event_id=${after}` : "";
  const source = new Source(`${events}/events?ticket=${encodeURIComponent(await ticket())}${from}`, origin);
  source.addEventListener("open", () => (told.opened += 1));
  source.addEventListener("error", () => {
    if (source.readyState !== 2) return; // it comes back by itself, with a ticket that was used
    told.refused.push(source.status);
    listen(source.lastEventId);
  });
  for (const type of ["accepted", "delta", "done", "cancelled"]) {
    source.addEventListener(type, (event) => {
      told.ids.push(event.lastEventId);
      told.events.push(type);
      if (type === "delta") told.text += JSON.parse(event.data).text;
      if (type === "done" || type === "cancelled") {
        source.close();
        console.log(JSON.stringify(told));
      } else if (told.ids.length === Number(cutAfter)) {
        source.stop.abort(); // the network is lost
      }
    });
  }
}

await listen("");
