// A page's reader of a turn: POST by fetch, read the stream, break off after some events, and read the rest by GET with
// Last-Event-ID. Run: node fetch_reader.mjs URL SESSION KEY CUT_AFTER; prints one JSON object.

const [base, session, key, cutAfter] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}`, Accept: "text/event-stream", "Content-Type": "application/json" };

async function* events(response) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(
        block.split("\n").filter((line) => !line.startsWith(":")).map((line) => line.split(/: (.*)/s, 2)),
      );
      if (fields.event) yield { id: fields.id, event: fields.event, data: JSON.parse(fields.data) };
    }
  }
}

const seen = [];
const stop = new AbortController();
const body = JSON.stringify({ text: "Hello from a page" });
const turns = `${base}/v1/sessions/${session}/turns`;
const first = await fetch(turns, { method: "POST", headers, body, signal: stop.signal });
for await (const event of events(first)) {
  seen.push(event);
  if (seen.length >= Number(cutAfter)) break;
}
stop.abort();
const cut = seen.length;
if (seen.at(-1)?.event !== "done") {
  const last = seen.at(-1).id;
  const rest = await fetch(`${turns}/${last.split("-")[0]}/events`, { headers: { ...headers, "Last-Event-ID": last } });
  for await (const event of events(rest)) seen.push(event);
}
const text = seen.filter(({ event }) => event === "delta").map(({ data }) => data.text).join("");
console.log(JSON.stringify({ cut, ids: seen.map(({ id }) => id), events: seen.map(({ event }) => event), text }));
