import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { Desk, blocksOf, pasted } from './support/documents.ts';
import { describeWith, python } from './support/peers.ts';

interface Ports {
  readonly httpPort: number;
  readonly modbusPort: number;
}

/** The text as it would be pasted, for the ports of the test. */
const aimed = (text: string, { httpPort, modbusPort }: Ports) =>
  text.replaceAll('8111', String(httpPort)).replaceAll('8502', String(modbusPort));

const shell = ['bash', '-eu', '-o', 'pipefail'] as const;

function expectNoRefusal(output: string): void {
  expect(output).not.to.include('urn:derbench:problem');
}

/** Within 5 %: the sun moves while the tour is taken twice. */
const isNear = (value: number, wanted: number) => Math.abs(value - wanted) <= 0.05 * Math.abs(wanted);

/** What stands behind time stamps and tick in the rows of a history as CSV. */
const rowsOf = (csv: string) =>
  csv
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line) => line.split(',').slice(3).map(Number));

const membersOf = (line: string) =>
  new Map([...line.matchAll(/"(\w+)":(-?[\d.]+)/g)].map(([, name, value]) => [name, Number(value)]));

/** That an output has a line with about the members, or the header and about the rows, that a document shows. */
function expectShown(output: string, shown: string): void {
  const members = [...membersOf(shown)];
  const isShown = (line: ReadonlyMap<unknown, number>) =>
    members.every(([name, wanted]) => isNear(line.get(name) ?? NaN, wanted));
  if (members.length > 0) {
    expect(output.split('\n').map(membersOf).some(isShown), `${shown}in\n${output}`).to.equal(true);
    return;
  }
  expect(output).to.include(shown.split('\n')[0]);
  const given = rowsOf(output);
  for (const wanted of rowsOf(shown)) {
    const found = given.some((row) => row.every((value, i) => isNear(value, wanted[i] ?? NaN)));
    expect(found, `${wanted.join()} in\n${output}`).to.equal(true);
  }
}

const numbersIn = (output: string, pattern: RegExp) => [...output.matchAll(pattern)].map(([, value]) => Number(value));

/** What the text beside a command promises about its output. */
const promises: Readonly<Record<string, (output: string, simulator: RunningSimulator) => unknown>> = {
  'derbench limit 50 % --for 5': (output) => {
    const [limited = NaN, free = NaN] = numbersIn(output, /^701\.W +(\d+) W/gm);
    expect(output).to.include('limit of active power, written by REST');
    expect(limited).to.be.closeTo(5000, 10);
    expect(free).to.be.greaterThan(9000);
  },
  'sunspec-client/read': async (output, { httpPort }) => {
    const [half = NaN, whole = NaN] = numbersIn(output, /"name":"W",.*?"value":([\d.]+)/g);
    // a tick between the two requests changes the power
    const { json } = await ask(httpPort, '/api/sim/history?limit=3&metrics=power_kw');
    const powers = json.samples.map(({ power_kw: powerKw }: Json) => 1000 * powerKw);
    expect(
      [whole, ...powers].some((powerW) => Math.abs(half - powerW / 2) <= 2),
      `${half}, ${whole}`,
    ).to.equal(true);
    expect(half).to.be.greaterThan(500);
  },
};

/** Everything that a step of the tour could leave behind. */
async function traces({ httpPort }: RunningSimulator): Promise<Json> {
  const read = async (path: string) => (await ask(httpPort, `/api/sim/${path}`)).json;
  const [changes, overview, faults, site, grid, environment, time, client] = await Promise.all(
    ['registers/changes', 'overview', 'faults', 'site', 'controls/grid', 'controls/environment', 'controls/time'].map(
      read,
    ),
  ).then(async (replies) => [...replies, await read('sunspec-client')]);
  const found = {
    changes: changes.changes,
    devices: overview.devices.length,
    service: overview.status.service_state,
    inverter: overview.status.inverter_state,
    faults: faults.total,
    export_limit_kw: site.export_limit_kw,
    event: grid.event,
    irradiance: environment.source,
    time: [time.mode, time.rate],
    client: client.enabled,
  };
  // a member that does not exist would be equal in every state
  expect(Object.values(found).flat()).not.to.include(undefined);
  return found;
}

describeWith(['pysunspec2', 'pymodbus'], 'documents', function () {
  this.timeout(180_000);

  let desk: Desk;
  before(() => {
    desk = new Desk();
  });
  after(() => desk.clear());
  const atDesk = ({ httpPort }: RunningSimulator) => desk.env({ DERBENCH_URL: `http://127.0.0.1:${httpPort}` });

  describe('first ten minutes', () => {
    let simulator: RunningSimulator;
    let untouched: Json;
    const blocks = blocksOf('docs/tutorials/first-ten-minutes.md', 'Steps');
    const master = blocks.filter(({ language }) => language === 'python');

    before(async () => {
      simulator = await startSimulator();
      untouched = await traces(simulator);
    });
    after(() => simulator.stop());

    for (const pass of ['once', 'again']) {
      it(`gives what it says, ${pass}`, async () => {
        let output = '';
        for (const { language, text } of blocks) {
          if (language === 'sh') output = await pasted(shell, aimed(text, simulator), atDesk(simulator));
          if (language === 'text') expectShown(output, text);
          expectNoRefusal(output);
          for (const [command, holds] of Object.entries(promises))
            if (language === 'sh' && text.includes(command)) await holds(output, simulator);
        }
        expect(await traces(simulator)).to.deep.equal(untouched);
      });
    }

    it('has a master that reads and limits', async () => {
      const script = master.map(({ text }) => text).join('\n');
      expect(await pasted([python, '-'], aimed(script, simulator))).to.match(/^\d+(\.\d+)? W\n$/);
      const { json } = await ask(simulator.httpPort, '/api/sim/registers/704?points=WMaxLimPct,WMaxLimPctEna');
      expect(json.points.map(({ value, source }: Json) => [value, source])).to.deep.equal([
        [1, 'modbus'],
        [50, 'modbus'],
      ]);
    });
  });

  describe('how-to pages', () => {
    let simulator: RunningSimulator;

    beforeEach(async () => {
      simulator = await startSimulator();
    });
    afterEach(() => simulator.stop());

    it('head-end: every request is accepted, in any order', async () => {
      const requests = ['Look at what it did', 'Go back to the start'].flatMap((title) =>
        blocksOf('docs/how-to/test-your-head-end.md', title),
      );
      expect(requests.length).to.be.greaterThan(3);
      for (const { text } of [...requests, ...requests.toReversed()]) {
        expectNoRefusal(await pasted(shell, aimed(text, simulator)));
      }
    });

    it('Python: each program reads and limits', async () => {
      const outputs: string[] = [];
      for (const { language, text } of blocksOf('docs/how-to/python.md')) {
        if (language === 'python') outputs.push(await pasted([python, '-'], aimed(text, simulator)));
      }
      const [sunspec = '', plain = '', rest = ''] = outputs;
      expect(sunspec).to.match(/^\d+(\.\d+)? W, .* V, 60(\.0)? Hz\nlimited to 60(\.0)? %, for another (10|9|8) s\n$/);
      expect(plain).to.match(/^models 1 701 702 .*\nW \d+\n/);
      expect(rest.split('\n')[1]).to.include("'enabled': True");
      expect(rest.split('\n')[2]).to.match(/^422 .*limit_pct/);
    });

    it('Node.js: the stream shows five messages', async () => {
      const [block] = blocksOf('docs/how-to/stream-node.md').filter(({ language }) => language === 'js');
      const output = await pasted(
        [process.execPath, '--input-type=module', '-'],
        `import { WebSocket } from 'ws';\n${aimed(block?.text ?? '', simulator)}`,
      );
      const lines = output.trim().split('\n');
      expect(lines).to.have.length(6);
      expect(lines[0]).to.match(/^\d\d:\d\d:\d\d [\d.]+ kW [\d.]+ V running$/);
    });
  });

  it('a site of all kinds: every step is accepted', async () => {
    const simulator = await startSimulator(['--config', 'mixed-site']);
    try {
      const { devices } = (await ask(simulator.httpPort, '/api/sim/devices')).json;
      for (const { language, text } of blocksOf('docs/tutorials/mixed-site.md', 'Steps')) {
        const program = language === 'sh' ? shell : ([python, '-'] as const);
        const script = aimed(text, simulator).replaceAll('8503', String(devices[1].modbus.port));
        expectNoRefusal(await pasted(program, script, atDesk(simulator)));
      }
    } finally {
      await simulator.stop();
    }
  });

  it('skill: its shell blocks pass, in at most 150 lines', async () => {
    const path = 'skills/derbench/SKILL.md';
    expect(readFileSync(path, 'utf8').trimEnd().split('\n').length).to.be.at.most(150);
    const blocks = blocksOf(path).filter(({ language }) => language === 'sh');
    const desk = new Desk();
    try {
      const output = await pasted(shell, blocks.map(({ text }) => text).join(''), desk.env(), desk.folder);
      expect(output).to.match(/701\.InvSt +RUNNING/);
      expect(output).to.match(/limit of active power, written by REST/);
      expect(output).to.match(/Volt-watt: passed/);
    } finally {
      desk.clear();
    }
  });

  it('pictures of a terminal show what the commands print', async () => {
    const check = [process.execPath, '--import=tsx', 'scripts/draw-terminal.ts', '--check'] as const;
    expect(await pasted(check, ''), 'differences are an exit code').to.equal('');
  });
});
