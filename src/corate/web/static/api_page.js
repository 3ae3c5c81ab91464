// The API, from its own description.

import { byId, el } from "./dom.js";

const found = await (await fetch("/openapi.json")).json();
const page = byId("api");
page.append(el("p", {}, found.info.description));
for (const [path, methods] of Object.entries(found.paths)) {
  for (const [method, about] of Object.entries(methods)) {
    const section = el("section", { class: "endpoint" }, el("h3", {}, el("code", {}, `${method.toUpperCase()} ${path}`)), el("p", {}, about.summary));
    const fields = about.requestBody?.content["application/json"].schema.properties ?? {};
    const rows = Object.entries(fields).map(([name, field]) =>
      el("tr", {}, el("th", { scope: "row" }, el("code", {}, name)), el("td", {}, field.type ?? (field.enum ? field.enum.join(", ") : "object or array")), el("td", {}, field.description ?? "")),
    );
    if (rows.length) section.append(el("table", {}, el("caption", {}, "Body"), el("tbody", {}, ...rows)));
    const answers = Object.entries(about.responses).map(([status, answer]) => el("li", {}, el("b", {}, status), ` ${answer.description}`));
    section.append(el("details", {}, el("summary", {}, "Answers"), el("ul", {}, ...answers)));
    page.append(section);
  }
}
