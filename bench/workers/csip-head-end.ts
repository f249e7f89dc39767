// A head-end of IEEE 2030.5 in a process of its own, for as many clients as certificates that it makes.
// Arguments: directory for the certificates, number of clients. Prints one line of JSON with its port, then one with its
// counts whenever it gets SIGUSR2.
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HeadEnd, lfdiOf } from '../../test/csip/head-end/head-end.ts';
import { createAuthority, issue } from '../../test/support/pki.ts';

const [directory = '', count = '1'] = process.argv.slice(2);
const root = await createAuthority('Bench root');
const file = (name: string, text: string) => writeFileSync(join(directory, name), text, { mode: 0o600 });
file('root.pem', root.cert);
const identity = await issue(root, 'server', { purpose: 'server' });
const headEnd = await HeadEnd.open({ tls: { identity, ca: root.cert }, nowMs: Date.now });
const rates = { dcap: 60, time: 60, endDevices: 60, endDevicePost: 60, fsas: 60, programs: 60, ders: 60, mirrors: 60 };
Object.assign(headEnd.rates, rates, { mirrorPost: 60 });
for (let index = 0; index < Number(count); index += 1) {
  const { cert, key } = await issue(root, `device ${index}`, { purpose: 'client' });
  file(`device${index}.pem`, cert);
  file(`device${index}.key`, key);
  headEnd.register(lfdiOf(new X509Certificate(cert).raw));
}
const program = headEnd.program({ primacy: 5, default: { opModMaxLimW: 9000 } });
headEnd.control(program, { modes: { opModMaxLimW: 8000 }, inS: 60, durationS: 3600 });
process.on('SIGUSR2', () => {
  const { requests, responses, readings } = headEnd;
  const clients = new Set(requests.filter(({ method }) => method === 'PUT').map(({ lfdi }) => lfdi)).size;
  const refused = requests.filter(({ status }) => status >= 400).length;
  const counts = {
    clients,
    requests: requests.length,
    refused,
    responses: responses.length,
    readings: readings.length,
  };
  process.stdout.write(`${JSON.stringify(counts)}\n`);
});
process.stdout.write(`${JSON.stringify({ port: headEnd.port })}\n`);
