// Times the codec of IEEE 2030.5 beside fast-xml-parser alone, on a DERControlList.
// Arguments: controls in the list, milliseconds to measure.
// Prints one line of JSON, microseconds per document: medians over batches, since the machine has other work.
import { XMLBuilder, XMLParser } from 'fast-xml-parser';
import { buildDocument, parseDocument } from '../built/parts.js';

const [controls, measureMs] = process.argv.slice(2).map(Number);
const options = { revision: '2018', aus: '1.2' };
const created = 1_700_000_000;
const control = (_, index) => ({
  href: `/edev/1/derp/1/derc/${index}`,
  replyTo: '/rsps/1/rsp',
  responseRequired: '03',
  mRID: index.toString(16).toUpperCase().padStart(32, '0'),
  description: 'export limit & volt-var',
  creationTime: created,
  EventStatus: { currentStatus: 0, dateTime: created, potentiallySuperseded: false },
  interval: { duration: 300, start: created + 300 * index },
  randomizeStart: 60,
  DERControlBase: {
    opModConnect: true,
    opModVoltVar: { href: '/edev/1/derp/1/dc/1' },
    opModExpLimW: { multiplier: 0, value: 5000 },
  },
});
const document = {
  name: 'DERControlList',
  value: { href: '/derc', all: controls, results: controls, DERControl: Array.from({ length: controls }, control) },
};
const octets = Buffer.from(buildDocument(document, options));
const parser = new XMLParser({ ignoreAttributes: false });
const builder = new XMLBuilder({ ignoreAttributes: false });
const plain = parser.parse(octets);
if (parseDocument(octets).value.DERControl.length !== controls) throw new Error('the codec lost controls');

const candidates = {
  read: () => parseDocument(octets),
  bareRead: () => parser.parse(octets),
  write: () => buildDocument(document, options),
  bareWrite: () => builder.build(plain),
};
const samples = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
let kept;

function batch(run, ms) {
  const start = performance.now();
  let count = 0;
  do {
    kept = run();
    count += 1;
  } while (performance.now() - start < ms);
  return ((performance.now() - start) * 1000) / count;
}

for (const run of Object.values(candidates)) batch(run, measureMs / 4);
const begin = performance.now();
do {
  for (const [name, run] of Object.entries(candidates)) samples[name].push(batch(run, 20));
} while (performance.now() - begin < 4 * measureMs);
const medians = Object.entries(samples).map(([name, values]) => [name, values.sort((a, b) => a - b)[values.length >> 1]]);
if (kept === undefined) throw new Error('nothing was built');
process.stdout.write(`${JSON.stringify({ octets: octets.length, ...Object.fromEntries(medians) })}\n`);
