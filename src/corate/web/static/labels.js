// Labels: spans and back, and a colour for each kind. Colours are Okabe and Ito's, which all eyes can tell apart;
// the label itself is always written beside.

const N_COLOURS = 8;

export const kindOf = (label, scheme) => (scheme ? label.replace(/^[BIESLU]-/, "") : label);

export function colours(labels, scheme) {
  const kinds = [...new Set(labels.map((label) => kindOf(label, scheme)))].filter((kind) => kind !== "O");
  return new Map(kinds.map((kind, k) => [kind, k % N_COLOURS]));
}

// As conlleval reads them: a label that does not go on begins anew.
export function spansOf(labels) {
  const found = [];
  let open = null;
  labels.forEach((label, i) => {
    const [prefix, kind] = split(label);
    const goesOn = open && "IEL".includes(prefix) && open.kind === kind;
    if (!goesOn) {
      open = prefix === "O" ? null : { kind, start: i, end: i + 1 };
      if (open) found.push(open);
    } else open.end = i + 1;
    if ("ESLU".includes(prefix)) open = null;
  });
  return found;
}

function split(label) {
  const at = label.indexOf("-");
  return at === 1 && "BIESLU".includes(label[0]) ? [label[0], label.slice(2)] : ["O", ""];
}

// The labels with words start … end − 1 as one span of this kind; "O" takes spans away.
export function withSpan(labels, scheme, start, end, kind) {
  const spans = spansOf(labels).flatMap((span) => cut(span, start, end));
  if (kind !== "O") spans.push({ kind, start, end });
  return encode(labels.length, spans.sort((a, b) => a.start - b.start), scheme);
}

function cut(span, start, end) {
  if (span.end <= start || span.start >= end) return [span];
  const parts = [{ ...span, end: start }, { ...span, start: end }];
  return parts.filter((part) => part.start < part.end);
}

function encode(length, spans, scheme) {
  const labels = new Array(length).fill("O");
  const [single, last] = { IOBES: ["S", "E"], BILOU: ["U", "L"] }[scheme] ?? ["B", "I"];
  let before = null;
  for (const span of spans) {
    for (let i = span.start; i < span.end; i++) {
      let prefix = i === span.start ? "B" : i === span.end - 1 ? last : "I";
      if (span.end - span.start === 1) prefix = single;
      const touches = before && before.end === span.start && before.kind === span.kind;
      if (scheme === "IOB1" && i === span.start && !touches) prefix = "I";
      labels[i] = `${prefix}-${span.kind}`;
    }
    before = span;
  }
  return labels;
}
