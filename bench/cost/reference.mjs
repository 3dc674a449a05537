// What costs are compared with: a bare proxy on node:http, without books, keys or limits. FROZEN: whoever changes a byte of it accepts every figure anew.
// Argument: the vendor's port. Prints its own.
import { Agent, createServer, request } from 'node:http';

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 512 });

const server = createServer((asked, answer) => {
  const headers = { ...asked.headers, host: `127.0.0.1:${port}` };
  const passed = request(
    { host: '127.0.0.1', port, method: asked.method, path: asked.url, headers, agent },
    (told) => {
      answer.writeHead(told.statusCode ?? 502, told.headers);
      told.pipe(answer);
    },
  );
  passed.on('error', () => answer.destroy());
  asked.pipe(passed);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
