/** The shell commands of documents, in the order of the page, at the simulators that the page starts. */
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freePorts } from '../support/ports.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { pathsBelow } from '../support/repository.ts';
import { Desk, blocksOf, pasted } from './support/documents.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Pages whose commands another test runs. */
const runElsewhere: Readonly<Record<string, string>> = {
  'docs/install.md': 'test/interop/install.test.ts',
  'docs/doors/central-system.md': 'test/interop/doors.test.ts',
  'docs/doors/ci.md': 'test/interop/install.test.ts',
  'docs/doors/dnp3-master.md': 'test/interop/doors.test.ts',
  'docs/doors/head-end.md': 'test/interop/doors.test.ts',
  'docs/doors/researcher.md': 'test/interop/doors.test.ts',
  'docs/doors/sunspec-master.md': 'test/interop/doors.test.ts',
  'docs/how-to/ci.md': 'test/interop/install.test.ts',
  'docs/how-to/csms.md': 'test/interop/doors.test.ts',
  'docs/how-to/helics-mosaik.md': 'test/interop/cosim-helics.test.ts',
  'docs/how-to/pytest.md': 'test/interop/python-package.test.ts',
  'docs/how-to/python.md': 'test/interop/documents.test.ts',
  'docs/how-to/small-head-end.md': 'test/interop/doors.test.ts',
  'docs/how-to/stream-node.md': 'test/interop/documents.test.ts',
  'docs/how-to/test-your-head-end.md': 'test/interop/install.test.ts',
  'docs/tutorials/first-ten-minutes.md': 'test/interop/documents.test.ts',
  'docs/tutorials/mixed-site.md': 'test/interop/documents.test.ts',
};

interface Page {
  /** texts that the outputs must have */
  readonly shows?: readonly string[];
  /** commands that do not run, by their start, with the reason */
  readonly skips?: Readonly<Record<string, string>>;
  /** blocks that the page tells the reader to save: name of the file by the start of the block */
  readonly files?: Readonly<Record<string, string>>;
  /** work of the reader or of a peer, by the start of the command that it precedes */
  readonly inserts?: Readonly<Record<string, string>>;
  /** addresses and folders of the reader's machine, with what takes their place */
  readonly replaces?: readonly (readonly [text: string, by: string])[];
  /** a simulator in the place of a real product, by its flags: its Modbus port is PRODUCT in `replaces` */
  readonly product?: string;
}

/** A Modbus master of one request: reads the two registers of "SunS". */
const modbusRead = [
  'exec 3<>/dev/tcp/127.0.0.1/8502',
  String.raw`printf '\000\001\000\000\000\006\001\003\234\100\000\002' >&3`,
  'head -c 13 <&3 >registers; exec 3>&-',
].join('\n');
const needsPeer = 'needs a peer: test/interop/scenarios-peers.test.ts runs it';

const halved = ['701.W is 5000', '5.00 kW of 9.44 kW: limit of active power, written by REST'];
const installs = 'installs the checkout, whose files the test has';

const pages: Readonly<Record<string, Page>> = {
  'README.md': {
    shows: halved,
    skips: { 'npm ci': installs, 'npm install': 'test/interop/install.test.ts installs the package' },
  },
  'docs/index.md': { shows: halved, skips: { 'npm ci': installs } },
  'docs/troubleshooting.md': { shows: ['"foreign":', '5000 W', 'limit of active power'] },
  'docs/concepts/environment.md': {
    skips: { 'derbench -d PV --dc_profile': 'the reader downloads the file from PVGIS' },
  },
  'docs/concepts/grid-support.md': { shows: ['\n4.20 kW of 9.44 kW: volt-watt at 108.3 %, curve written by REST'] },
  'docs/concepts/proxy.md': { files: { '{\n  "name": "My inverter"': 'my-inverter.json' } },
  'docs/how-to/certificates.md': {
    inserts: { 'jq -n --rawfile': 'derbench pki head-end >pki.txt && cp head-end/root.pem headend-root.pem' },
  },
  'docs/how-to/commands.md': { shows: ['\n5.00 kW of 9.44 kW: limit of active power, written by REST at 12:00:00.'] },
  'docs/how-to/findings.md': {
    shows: ['"verdict":'],
    inserts: {
      'curl -s localhost:8111/api/sim/findings/peers': modbusRead,
      'derbench run my-scenario.yaml': 'derbench init scenario my-scenario.yaml',
    },
  },
  'docs/how-to/recorder.md': {
    shows: ['read'],
    inserts: { 'curl -OJ localhost:8111/api/sim/recorder/download ': modbusRead },
  },
  'docs/how-to/scenarios.md': {
    files: { '# volt-var.yaml': 'volt-var.yaml' },
    skips: { 'derbench run volt-var.yaml --pace real': 'lasts as long as its simulated time' },
  },
  'docs/how-to/start.md': {
    skips: {
      socat: 'test/interop/modbus-rtu.test.ts has the two ends of a line',
      'derbench -rtu': 'test/interop/modbus-rtu.test.ts has the two ends of a line',
    },
  },
  'docs/how-to/state.md': {
    inserts: {
      'derbench state export /var/lib/derbench --output': `until curl -sf localhost:8111/api/sim/health >health.json; do :; done
curl -s localhost:8111/api/sim/stop -H 'Content-Type: application/json' -d '{}'
until derbench state export /var/lib/derbench --output first.json; do :; done`,
    },
    replaces: [
      ['/var/lib/derbench', 'kept'],
      ['/srv/other', 'other'],
    ],
  },
  'docs/how-to/vendor-maps.md': {
    product: 'derbench -f Field-Meters-10kW-3Phase-EU',
    shows: ['{"chain":[103,{"meter":203},{"meter":203}]}'],
    files: { nominal_frequency_hz: 'product.yaml', '{name: "My inverter"': 'map.jq' },
    replaces: [['"192.168.1.50", "port": 502', '"127.0.0.1", "port": PRODUCT']],
  },
  'docs/protocols/csip.md': {
    inserts: {
      'derbench --csip_client_enable':
        'derbench pki pki >pki.txt && cp pki/root.pem root.pem && cp pki/device0.pem device.pem && cp pki/device0.key device.key',
    },
  },
  'docs/protocols/ocpp-2.md': {
    skips: { 'curl -s localhost:8111/api/sim/evse/CS-1/connectors/1/discharge': 'needs a central system that accepts' },
  },
  'docs/reference/scenario-library.md': { skips: { 'derbench run config/scenarios/with-peers/': needsPeer } },
};

/** Starts of the simulator; other commands of `derbench` begin with a word. */
const isStart = (line: string) => /^derbench( -(?!h\b|-version)| *(#|&|$))/.test(line);

/** The commands of a block; one that ends with a backslash goes on. */
const linesOf = (text: string) => text.replaceAll(/^npm start --(?= )/gm, 'derbench').split(/(?<!\\)\n/);

const flagsOf = (line: string) =>
  line
    .replaceAll('\\\n', ' ')
    .replace(/\s[#&].*/, '')
    .trim()
    .split(/\s+/)
    .slice(1);

/** Entry of a table whose key begins the line. */
const entryFor = (line: string, table: Readonly<Record<string, string>> = {}) =>
  Object.entries(table).find(([start]) => line.startsWith(start))?.[1];

/** Ports that pages name, other than those of a simulator without flags. */
const namedPorts = ['1502', '5020', '8211', '8602', '9000', '9502'];
/** Ports of listeners that a page does not name. */
const otherPorts = ['--proxy_port', '--dnp3_port', '--csip_website_port'];

/** Follows a page in a folder that has what pages use of a checkout. Requests are for the simulator that started last. */
class Reader {
  readonly #desk = new Desk();
  readonly #page: Page;
  readonly #simulators: RunningSimulator[] = [];
  #replaces: readonly (readonly [text: string, by: string])[] = [];
  /** variables and functions of the shell, for the commands after another start */
  #setup = '';
  output = '';

  constructor(page: Page) {
    this.#page = page;
  }

  async open(path: string): Promise<void> {
    const folder = this.#desk.folder;
    for (const name of ['config', 'node_modules', 'scripts']) symlinkSync(join(root, name), join(folder, name));
    for (const { text } of blocksOf(path)) {
      const name = entryFor(text, this.#page.files);
      if (name !== undefined) writeFileSync(join(folder, name), text);
    }
    const port = await freePorts(namedPorts.length);
    const product = this.#page.product === undefined ? 0 : (await this.#start(this.#page.product)).modbusPort;
    const replaces = (this.#page.replaces ?? []).map(
      ([text, by]) => [text, by.replace('PRODUCT', String(product))] as const,
    );
    this.#replaces = [...replaces, ...namedPorts.map((text, i) => [text, String(port + i)] as const)];
  }

  async #start(line: string): Promise<RunningSimulator> {
    const flags = flagsOf(this.#aimed(line));
    const anyPorts = otherPorts.filter((name) => !flags.includes(name)).flatMap((name) => [name, '0']);
    const simulator = await startSimulator([...anyPorts, ...flags], [this.#desk.command], this.#desk.folder);
    this.#simulators.push(simulator);
    return simulator;
  }

  #aimed(text: string): string {
    const simulator = this.#simulators.at(-1);
    const ports = [
      ['8111', simulator?.httpPort],
      ['8502', simulator?.modbusPort],
    ] as const;
    return [...this.#replaces, ...ports].reduce((line, [from, to]) => line.replaceAll(from, String(to ?? from)), text);
  }

  async #run(script: string): Promise<void> {
    if (script.trim() === '') return;
    const { httpPort } = this.#simulators.at(-1) ?? (await this.#start('derbench'));
    this.output += await pasted(
      ['bash', '-eu', '-o', 'pipefail'],
      this.#aimed(this.#setup + script),
      this.#desk.env({ DERBENCH_URL: `http://127.0.0.1:${httpPort}` }),
      this.#desk.folder,
    );
    this.#setup += script.match(/^(\w+=|\w+\(\) ).*\n/gm)?.join('') ?? '';
  }

  async follow(path: string): Promise<void> {
    const { skips, inserts } = this.#page;
    const lines = blocksOf(path).flatMap(({ language, text }) => (language === 'sh' ? linesOf(text) : []));
    let script = '';
    for (const line of lines) {
      if (entryFor(line, skips) !== undefined) continue;
      script += entryFor(line, inserts) ?? '';
      if (isStart(line)) {
        await this.#run(script);
        script = '';
        await this.#start(line);
      } else script += `\n${line}\n`;
    }
    await this.#run(script);
  }

  async close(): Promise<void> {
    await Promise.all(this.#simulators.map((simulator) => simulator.stop()));
    this.#desk.clear();
  }
}

describe('commands of documents', function () {
  this.timeout(60_000);
  const paths = ['README.md', ...pathsBelow('docs').filter((path) => path.endsWith('.md'))];
  const withCommands = paths.filter((path) => blocksOf(path).some(({ language }) => language === 'sh'));

  it('are run here or by a test with a name', () => {
    const unknown = [...Object.keys(pages), ...Object.keys(runElsewhere)].filter(
      (path) => !withCommands.includes(path),
    );
    expect(unknown).to.deep.equal([]);
    for (const [path, test] of Object.entries(runElsewhere)) expect(existsSync(join(root, test)), path).to.equal(true);
  });

  it('have exceptions for commands and blocks that exist', () => {
    const stale = Object.entries(pages).flatMap(([path, { skips, inserts, files }]) => {
      const blocks = blocksOf(path).map(({ text }) => text);
      const lines = blocks.flatMap(linesOf);
      const unused = (starts: object, texts: readonly string[]) =>
        Object.keys(starts).filter((start) => !texts.some((text) => text.startsWith(start)));
      return [...unused({ ...skips, ...inserts }, lines), ...unused({ ...files }, blocks)];
    });
    expect(stale).to.deep.equal([]);
  });

  for (const path of withCommands.filter((name) => !(name in runElsewhere)))
    it(`of ${path} work`, async () => {
      const page = pages[path] ?? {};
      const reader = new Reader(page);
      try {
        await reader.open(path);
        await reader.follow(path);
        for (const text of page.shows ?? []) expect(reader.output).to.include(text);
        expect(reader.output).not.to.include('urn:derbench:problem');
      } finally {
        await reader.close();
      }
    });
});
