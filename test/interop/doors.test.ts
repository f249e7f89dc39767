/** The doors of docs/doors: their commands, in the order of the page, at the simulator that the page starts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { freePorts } from '../support/ports.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { Desk, blocksOf, pasted } from './support/documents.ts';
import type { Block } from './support/documents.ts';
import { describeWith, python } from './support/peers.ts';
import type { Peer } from './support/peers.ts';

interface Door {
  readonly page: string;
  readonly peers: readonly Peer[];
  /** of ports that would be taken */
  readonly flags?: readonly string[];
  /** the small server that its how-to page has, and its port there */
  readonly server?: { readonly guide: string; readonly port: string };
}

const doors: readonly Door[] = [
  { page: 'sunspec-master', peers: ['pysunspec2'] },
  {
    page: 'head-end',
    peers: ['python'],
    flags: ['--csip_website_port', '0'],
    server: { guide: 'small-head-end', port: '8443' },
  },
  { page: 'central-system', peers: ['ocpp'], server: { guide: 'csms', port: '9000' } },
  { page: 'dnp3-master', peers: ['dnp3py'], flags: ['--dnp3_port', '0'] },
  { page: 'researcher', peers: ['python'] },
];

const isStart = ({ text }: Block) => /^derbench -/.test(text);
/** The flags of a start, without its comment. */
const flagsOf = ({ text }: Block) => text.replaceAll('\\\n', ' ').replace(/#.*/, '').trim().split(/\s+/).slice(1);

for (const { page, peers, flags = [], server } of doors)
  describeWith(peers, `docs/doors/${page}.md`, function () {
    this.timeout(120_000);
    let desk: Desk;
    let simulator: RunningSimulator | undefined;
    let peer: Awaited<ReturnType<typeof smallServer>> | undefined;

    before(() => {
      desk = new Desk();
    });
    after(async () => {
      await simulator?.stop();
      await peer?.stop();
      desk.clear();
    });

    /** The program of a how-to page on a free port, once it has said that it is ready or answers. */
    async function smallServer({ guide, port: written }: NonNullable<Door['server']>) {
      const port = await freePorts(1);
      const script = blocksOf(`docs/how-to/${guide}.md`).find(({ language }) => language === 'python')?.text ?? '';
      const child = spawn(python, ['-u', '-'], {
        cwd: desk.folder,
        env: desk.env(),
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      child.stdin.end(script.replaceAll(written, String(port)));
      const lines: string[] = [];
      let errors = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
      const reader = createInterface(child.stdout).on('line', (line) => lines.push(line));
      if (script.includes("print('ready'")) await once(reader, 'line');
      /** Ends it as Ctrl+C does, if it runs still. */
      const stop = async () => {
        if (child.exitCode === null && child.kill('SIGINT')) await once(child, 'close');
        return { code: child.exitCode, errors };
      };
      return { port, written, lines, stop };
    }

    const aimed = (text: string) =>
      [
        ['8111', simulator?.httpPort],
        ['8502', simulator?.modbusPort],
        ['20000', simulator?.dnp3Port],
        [peer?.written, peer?.port],
      ].reduce<string>(
        (line, [from, to]) => (to === undefined ? line : line.replaceAll(String(from), String(to))),
        text,
      );

    it('every command does what it says', async () => {
      const blocks = blocksOf(`docs/doors/${page}.md`);
      expect(blocks.filter(isStart)).to.have.length(1);
      for (const block of blocks) {
        if (isStart(block)) {
          if (server !== undefined) peer = await smallServer(server);
          const start = flagsOf({ ...block, text: aimed(block.text) });
          simulator = await startSimulator([...start, ...flags], [desk.command], desk.folder);
          continue;
        }
        const url = simulator === undefined ? {} : { DERBENCH_URL: `http://127.0.0.1:${simulator.httpPort}` };
        const program = block.language === 'python' ? ([python, '-'] as const) : (['bash', '-eu'] as const);
        const output = await pasted(program, aimed(block.text), desk.env(url), desk.folder);
        expect(output).not.to.include('urn:derbench:problem');
      }
      if (page === 'head-end') expect(peer?.lines).to.include.members(['response 1', 'response 2']);
    });

    if (server !== undefined)
      it('its small server ends at Ctrl+C without a traceback', async () => {
        const { code, errors } = await peer!.stop();
        expect(errors).not.to.include('Traceback');
        expect(code).to.equal(130);
      });
  });
