// A server on the TypeScript SDK with one tool, which writes a file: what the benchmarks of `framegate check` judge.
// Usage: node write_server.mjs MODULES FOLDER, where MODULES holds node_modules with @modelcontextprotocol/sdk and zod.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, folder] = process.argv.slice(2);
const require = createRequire(resolve(modules, 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
const { z } = await load('zod');

const server = new McpServer({ name: 'write', version: '0' });
server.registerTool('write', { description: 'Writes a file', inputSchema: { name: z.string() } }, ({ name }) => {
  writeFileSync(join(folder, basename(name)), '');
  return { content: [{ type: 'text', text: 'written' }] };
});
await server.connect(new StdioServerTransport());
