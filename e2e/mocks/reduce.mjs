// Keeps of each published description the operations that the examples use, word for word, and whatever
// they refer to: the mock server reads a small file in a second, and 13 MB in a minute.
//
// Belongs here: choosing. Does not belong here: changing what an operation accepts or answers.
//
//   node reduce.mjs SOURCES OPERATIONS.json OUT
//
// reads SOURCES/NAME.json and writes OUT/NAME.json for every name in OPERATIONS.json.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [sources, list, out] = process.argv.slice(2);

// The whole components that a value refers to, and those that they refer to.
function follow(description, value, kept) {
  if (Array.isArray(value)) {
    for (const item of value) follow(description, item, kept);
  } else if (value !== null && typeof value === "object") {
    if (typeof value.$ref === "string") {
      const [start, kind, name, ...deeper] = value.$ref.replace(/^#\//, "").split("/");
      if (start !== "components" || name === undefined || deeper.length > 0) {
        throw new Error(`a reference to something that is no component: ${value.$ref}`);
      }
      const component = description.components[kind]?.[name];
      if (component === undefined) throw new Error(`a reference to nothing: ${value.$ref}`);
      kept[kind] ??= {};
      if (!(name in kept[kind])) {
        kept[kind][name] = component;
        follow(description, component, kept);
      }
    }
    for (const member of Object.values(value)) follow(description, member, kept);
  }
}

// Says of lists in forms what OpenAPI 3.0 says of them by default, because Prism does not assume it: one pair for
// each item (style `form`, `explode`).
function spellOutForms(operation, components) {
  const media = operation.requestBody?.content?.["application/x-www-form-urlencoded"];
  if (media === undefined) return;
  const schema = media.schema.$ref ? components.schemas[media.schema.$ref.split("/").at(-1)] : media.schema;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.type !== "array") continue;
    media.encoding ??= {};
    media.encoding[name] ??= { style: "form", explode: true };
  }
}

for (const [name, operations] of Object.entries(JSON.parse(readFileSync(list)))) {
  const { paths, components, ...rest } = JSON.parse(readFileSync(join(sources, `${name}.json`)));
  delete rest["x-webhooks"];
  // A path that all paths lie below is written into each: Prism leaves it out.
  const base = new URL(rest.servers?.[0]?.url ?? "/", "http://host").pathname.replace(/\/$/, "");
  delete rest.servers;
  const kept = { securitySchemes: components.securitySchemes ?? {} };
  const chosen = {};
  for (const operation of operations) {
    const [method, path] = operation.split(" ");
    const found = paths[path]?.[method.toLowerCase()];
    if (found === undefined) throw new Error(`${name} has no operation ${operation}`);
    spellOutForms(found, components);
    const whole = base + path;
    chosen[whole] ??= paths[path].parameters === undefined ? {} : { parameters: paths[path].parameters };
    chosen[whole][method.toLowerCase()] = found;
  }
  follow({ components }, chosen, kept);
  writeFileSync(join(out, `${name}.json`), JSON.stringify({ ...rest, paths: chosen, components: kept }));
}
