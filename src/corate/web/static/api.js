// Talking to the server: one JSON object there, one back; or lines as they come. The token is in the address'
// fragment, which browsers send nowhere, and is kept for this tab alone.

const fragment = new URLSearchParams(location.hash.slice(1)).get("token");
if (fragment) {
  sessionStorage.setItem("token", fragment);
  history.replaceState(null, "", location.pathname);
}

function headers(more = {}) {
  const token = sessionStorage.getItem("token");
  return token ? { ...more, authorization: `Bearer ${token}` } : more;
}

async function failure(response) {
  let sentence = `${response.status} ${response.statusText}`;
  try {
    sentence = (await response.json()).error ?? sentence;
  } catch {
    // no JSON: the status says it
  }
  return new Error(sentence);
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer: is corate serve still running?");
  }
  if (!response.ok) throw await failure(response);
  return response;
}

export async function get(path) {
  return (await send(path, { headers: headers() })).json();
}

export async function post(path, body) {
  const type = headers({ "content-type": "application/json" });
  return (await send(path, { method: "POST", headers: type, body: JSON.stringify(body) })).json();
}

// Calls `take` with each list of records that arrives.
export async function stream(path, body, take) {
  const type = headers({ "content-type": "application/json", accept: "application/x-ndjson" });
  const response = await send(path, { method: "POST", headers: type, body: JSON.stringify(body) });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let left = "";
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (left + (value ?? "")).split("\n");
    left = lines.pop();
    if (lines.length) take(lines.map((line) => JSON.parse(line)));
    if (done) return;
  }
}
