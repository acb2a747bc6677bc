// Drives a server with npm `@modelcontextprotocol/sdk` 1.x or `@modelcontextprotocol/client` 2.x, and
// prints what it saw as one JSON object.
//
// Belongs here: connect, list, call, tool error, denial, cancel, close, as a user of that library
// writes them. Does not belong here: judging.
// `typescript_client.mjs PLAN`, where PLAN is the JSON of `clients.rs`; `modules` in it is the folder
// that the library is installed in.

import { createRequire } from 'node:module';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const plan = JSON.parse(process.argv[2]);
const installed = createRequire(join(plan.modules, 'package.json'));
const load = (name) => import(pathToFileURL(installed.resolve(name)).href);

const library =
  plan.major === 1
    ? { ...(await load('@modelcontextprotocol/sdk/client/index.js')), ...(await load('@modelcontextprotocol/sdk/client/stdio.js')) }
    : { ...(await load('@modelcontextprotocol/client')), ...(await load('@modelcontextprotocol/client/stdio')) };

const seen = (result) => ({
  is_error: Boolean(result.isError),
  text: result.content.map((block) => block.text ?? '').join(''),
  structured: result.structuredContent ?? null,
});

const attempt = async (call) => {
  try {
    return seen(await call);
  } catch (error) {
    return { raised: `${error.name}: ${error.message}` };
  }
};

const transport = new library.StdioClientTransport({
  command: plan.command[0],
  args: plan.command.slice(1),
  stderr: 'inherit',
});
const options = plan.major === 1 ? {} : { versionNegotiation: { mode: plan.mode } };
const client = new library.Client({ name: 'e2e-typescript', version: '1' }, options);
const call = (step, more) => {
  const request = { name: step.tool, arguments: step.arguments };
  return plan.major === 1 ? client.callTool(request, undefined, more) : client.callTool(request, more);
};

const report = { library: `typescript ${plan.major}` };
await client.connect(transport);
report.revision = client.getNegotiatedProtocolVersion?.() ?? transport._protocolVersion ?? null;
report.tools = (await client.listTools()).tools.map((tool) => tool.name).sort();
for (const name of ['good', 'tool_error', 'denied']) {
  report[name] = await attempt(call(plan[name]));
}
const stop = new AbortController();
const pending = call(plan.cancel, { signal: stop.signal }).then(
  (result) => ({ answered: seen(result) }),
  () => 'given up',
);
while (!existsSync(plan.cancel.when)) {
  await new Promise((wake) => setTimeout(wake, 10));
}
stop.abort('enough');
report.cancelled = await pending;
writeFileSync(plan.cancel.then, '');
report.after = await attempt(call(plan.after));
await client.close();
report.closed = true;
console.log(JSON.stringify(report));
