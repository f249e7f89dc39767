/** The doors of docs/doors: their commands, in the order of the page, at the simulator that the page starts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  /** stands for a master that the page leaves to the reader, before this command */
  readonly master?: { readonly before: string; readonly command: string };
}

const doors: readonly Door[] = [
  { page: 'sunspec-master', peers: ['pysunspec2'] },
  {
    page: 'head-end',
    peers: ['python'],
    flags: ['--csip_website_port', '0'],
    master: { before: "derbench wait '704", command: 'derbench limit 50%' },
  },
  { page: 'central-system', peers: ['ocpp'] },
  { page: 'dnp3-master', peers: ['dnp3py'], flags: ['--dnp3_port', '0'] },
  { page: 'researcher', peers: ['python'] },
];

const isStart = ({ text }: Block) => /^derbench -/.test(text);
/** The flags of a start, without its comment. */
const flagsOf = ({ text }: Block) => text.replaceAll('\\\n', ' ').replace(/#.*/, '').trim().split(/\s+/).slice(1);

for (const { page, peers, flags = [], master } of doors)
  describeWith(peers, `docs/doors/${page}.md`, function () {
    this.timeout(120_000);
    let desk: Desk;
    let simulator: RunningSimulator | undefined;
    let central: Awaited<ReturnType<typeof centralSystem>> | undefined;

    before(() => {
      desk = new Desk();
    });
    after(async () => {
      await simulator?.stop();
      await central?.stop();
      desk.clear();
    });

    /** The central system of its how-to page. */
    async function centralSystem() {
      const port = await freePorts(1);
      const script = blocksOf('docs/how-to/csms.md').find(({ language }) => language === 'python')?.text ?? '';
      const child = spawn(python, ['-u', '-'], { env: desk.env(), stdio: ['pipe', 'ignore', 'pipe'] });
      child.stdin.end(script.replace('9000', String(port)));
      const stop = async () => {
        child.kill();
        await once(child, 'close');
      };
      return { port, stop };
    }

    const aimed = (text: string) =>
      [
        ['8111', simulator?.httpPort],
        ['8502', simulator?.modbusPort],
        ['20000', simulator?.dnp3Port],
        ['9000', central?.port],
      ].reduce((line, [from, to]) => (to === undefined ? line : line.replaceAll(String(from), String(to))), text);

    it('every command does what it says', async () => {
      if (page === 'central-system') central = await centralSystem();
      const blocks = blocksOf(`docs/doors/${page}.md`);
      expect(blocks.filter(isStart)).to.have.length(1);
      for (const block of blocks) {
        if (isStart(block)) {
          const start = flagsOf({ ...block, text: aimed(block.text) });
          simulator = await startSimulator([...start, ...flags], [desk.command], desk.folder);
          continue;
        }
        const url = simulator === undefined ? {} : { DERBENCH_URL: `http://127.0.0.1:${simulator.httpPort}` };
        const program = block.language === 'python' ? ([python, '-'] as const) : (['bash', '-eu'] as const);
        const text = master === undefined ? block.text : block.text.replace(master.before, `${master.command}\n$&`);
        const output = await pasted(program, aimed(text), desk.env(url), desk.folder);
        expect(output).not.to.include('urn:derbench:problem');
      }
    });
  });
