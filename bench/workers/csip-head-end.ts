// A head-end of IEEE 2030.5 in a process of its own, for as many clients as certificates that it makes.
// Arguments: directory for the certificates, number of clients. Prints one line of JSON with its port, then one with its
// counts whenever it gets SIGUSR2.
import { headEndOfFleet } from '../../test/csip/head-end/fleet.ts';

const [directory = '', count = '1'] = process.argv.slice(2);
const rates = { dcap: 60, time: 60, endDevices: 60, fsas: 60, programs: 60, ders: 60, mirrors: 60, mirrorPost: 60 };
const { headEnd } = await headEndOfFleet(directory, Number(count), { ...rates, endDevicePost: 60 });
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
