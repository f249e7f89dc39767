// Yardstick: a bare broadcaster on `ws`. Serialises each snapshot once and sends the same Buffer to all clients; no
// simulation, no queue of its own. Arguments: a file with one snapshot in JSON, devices, interval in ms, port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const [file, devices, intervalMs, port] = process.argv.slice(2);
const snapshot = JSON.parse(readFileSync(file, 'utf8'));
const server = createServer((_request, response) => { response.end(); });
const sockets = new WebSocketServer({ server });
let tick = 0;

setInterval(() => {
  tick += 1;
  for (let index = 0; index < Number(devices); index += 1) {
    const message = Buffer.from(JSON.stringify({ ...snapshot, device_index: index, tick }));
    for (const client of sockets.clients) client.send(message, { binary: false });
  }
}, Number(intervalMs));
server.listen(Number(port), '127.0.0.1');
