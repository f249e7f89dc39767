// Yardstick: charge points on bare `ws` in one process. Each boots, answers every call with a result prepared for its
// action and sends the prepared message that TriggerMessage asks for. It checks nothing, keeps nothing and has no device.
// Arguments: a file with {calls: {action: payload}, answers: {action: payload}}, URL, charge points.
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';

const [file, url, count] = process.argv.slice(2);
const { calls, answers } = JSON.parse(readFileSync(file, 'utf8'));
const texts = (payloads) => new Map(Object.entries(payloads).map(([action, payload]) => [action, JSON.stringify(payload)]));
const [prepared, results] = [texts(calls), texts(answers)];

for (let index = 0; index < Number(count); index += 1) {
  const socket = new WebSocket(`${url}/CP-${index}`, ['ocpp1.6'], { perMessageDeflate: false });
  let lastId = 0;
  const call = (action) => socket.send(`[2,"b${++lastId}","${action}",${prepared.get(action)}]`);
  socket.on('open', () => call('BootNotification'));
  socket.on('close', () => process.exit(1));
  socket.on('message', (data) => {
    const [type, id, action, payload] = JSON.parse(data.toString());
    if (type !== 2) return;
    socket.send(`[3,"${id}",${results.get(action)}]`);
    if (action === 'TriggerMessage') call(payload.requestedMessage);
  });
}
