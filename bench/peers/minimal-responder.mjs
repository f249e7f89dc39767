// Yardstick: what Node's `net` can do at most. Cuts the stream by the MBAP length, answers every request with the same
// 125 registers, one write per chunk; no checks, no registers. Arguments: port.
import { createServer } from 'node:net';

const headerLength = 6;
const answerLength = 259;
const maxBatch = 250;
const prototype = Buffer.alloc(answerLength);
// MBAP length 253, unit 1, function 3, 250 octets; first the SunSpec marker, so that it passes as an answer
prototype.set([0, 0, 0, 0, 0, 253, 1, 3, 250, 0x53, 0x75, 0x6e, 0x53]);
const batch = Buffer.concat(Array.from({ length: maxBatch }, () => prototype));

createServer({ noDelay: true }, (socket) => {
  let rest = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    let count = 0;
    while (bytes.length - at >= headerLength) {
      const end = at + headerLength + bytes.readUInt16BE(at + 4);
      if (end > bytes.length) break;
      batch[count * answerLength] = bytes[at];
      batch[count * answerLength + 1] = bytes[at + 1];
      count += 1;
      at = end;
      if (count === maxBatch) {
        socket.write(Buffer.from(batch));
        count = 0;
      }
    }
    if (count > 0) socket.write(Buffer.from(batch.subarray(0, count * answerLength)));
    rest = bytes.subarray(at);
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
