// What Node's own decoders make of a path: splitting and then decoding, as routers do, and the URL class,
// which also resolves dot segments. Prints its port once it listens.

import { createServer } from 'node:http';

const segments = (path) => path.split('/').slice(1).map(decodeURIComponent);

let connections = 0;
const server = createServer((request, response) => {
    let seen;
    try {
        const url = new URL(request.url, 'http://echo.invalid');
        seen = {
            host: url.host,
            split: segments(request.url.split('?')[0]),
            url: segments(url.pathname),
            query: url.search,
        };
    } catch (fault) {
        seen = { fault: String(fault) };
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...seen, connections }));
});
server.on('connection', () => {
    connections += 1;
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
