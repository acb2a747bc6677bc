// Runs one command over SSH with npm `ssh2`, as a user of that library writes it, and exits with its status.
//
// Belongs here: connect, trust a host key by its fingerprint, run. Does not belong here: judging.
// `ssh2_client.mjs MODULES HOST PORT FINGERPRINT COMMAND`, where MODULES is the folder that the library is installed in.

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, host, port, fingerprint, command] = process.argv.slice(2);
const { Client } = createRequire(join(modules, 'package.json'))('ssh2');

const hostVerifier = (key) =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replaceAll('=', '')}` === fingerprint;

const client = new Client();
client.on('ready', () => {
  client.exec(command, (fault, stream) => {
    if (fault) throw fault;
    stream.on('close', (code) => {
      client.end();
      process.exitCode = code ?? 1;
    });
    // The input is left open, as most users leave it.
    stream.resume();
    stream.stderr.resume();
  });
});
client.connect({ host, port: Number(port), username: 'somebody', password: 'of nobody', hostVerifier });
