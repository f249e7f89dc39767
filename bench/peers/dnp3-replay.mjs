// The minimum of work for an integrity poll: answers any request with recorded octets by its sequence number, and the
// next fragment at each confirm. Arguments: port, file of the recording.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const [port, file] = process.argv.slice(2);
/** by sequence number of the request: the fragments of the answer, frames joined */
const answers = JSON.parse(readFileSync(file, 'utf8')).map((fragments) =>
  fragments.map((text) => Buffer.from(text, 'base64')),
);
const confirm = 0;

createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  let next = [];
  socket.on('data', (octets) => {
    // a request or a confirm is one frame; the load generator sends them one by one
    for (let at = 0; at + 13 <= octets.length; ) {
      const user = octets[at + 2] - 5;
      const seq = octets[at + 11] & 0x0f;
      if (octets[at + 12] !== confirm) next = answers[seq].slice();
      const fragment = next.shift();
      if (fragment !== undefined) socket.write(fragment);
      at += 10 + user + 2 * Math.ceil(user / 16);
    }
  });
}).listen(Number(port), '127.0.0.1');
