// A minimal server on the TypeScript SDK: what the benchmarks compare the gateway's start with.
// Usage: node echo_server.mjs FOLDER, where FOLDER holds node_modules with @modelcontextprotocol/sdk.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.argv[2], 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Server } = await load('@modelcontextprotocol/sdk/server/index.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');

const server = new Server({ name: 'echo', version: '0' }, { capabilities: { tools: {} } });
await server.connect(new StdioServerTransport());
