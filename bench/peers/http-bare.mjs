// Yardstick: what `node:http` can do at most. Answers known paths with the same bytes and headers each time, checks
// nothing and looks nothing up but the path.
// Arguments: a file with {path: {headers: [name, value, ...], body}}, port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [file, port] = process.argv.slice(2);
const replies = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')))
  .map(([path, { headers, body }]) => [path, { headers, bytes: Buffer.from(body) }]));

createServer((request, response) => {
  const { headers, bytes } = replies.get(request.url);
  response.writeHead(200, headers);
  response.end(bytes);
}).listen(Number(port), '127.0.0.1');
