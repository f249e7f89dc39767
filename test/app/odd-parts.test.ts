/** Parts of plant and devices with values that no simulator writes: the start goes on without them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import type { App } from '../../src/app/start-stop.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { replaceContents } from '../../src/state/contents.ts';
import type { Contents } from '../../src/state/contents.ts';
import { journalFile } from '../../src/state/journal.ts';
import { replay } from '../../src/state/record.ts';
import { configOf } from '../support/configured.ts';
import { ask } from '../support/http.ts';
import { oddContents, oddLeaves } from '../support/odd-values.ts';
import { holdsAsync } from '../support/property.ts';
import { TestFolder } from '../support/state-folder.ts';

const flags = ['-wp', '0', '-p', '0', '-N', '2', '--tick', '1', '--start_paused', 'yes'];

const types = ['Batt-3Phase', 'HybridDC-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'EVSE'];
const paths = ['/overview', '/controls', '/site', '/logs'];

/** @param root of the lock, which is a file of the disk */
function appOn(root: string, folder: TestFolder, lines: string[]): App {
  return createApp(configOf(...flags, '--state_dir', root), {
    logBook: createLogBook({ write: (line) => void lines.push(line) }),
    openStateFolder: () => folder,
  });
}

describe('parts of the kept state with odd values', function () {
  this.timeout(20_000);
  let contents: Contents;
  let allKinds: Contents;
  let root: string;

  after(() => {
    rmSync(root, { recursive: true });
  });

  /** The state of a simulator to which devices of these types were added. */
  async function kept(types: readonly string[]): Promise<Contents> {
    const folder = new TestFolder();
    const app = appOn(root, folder, []);
    const { port } = (await app.start()).http;
    const post = async (path: string, body: unknown) => {
      const { status, text } = await ask(port, `/api/sim${path}`, { method: 'POST', body });
      expect(status, text).to.be.within(200, 299);
    };
    await post('/site', { export_limit_kw: 3 });
    for (const type of types) await post('/devices', { device_type: type });
    await post('/commands?device=1', { command: 'stop' });
    await post('/controls/time/step', { ticks: 3 });
    await app.stop();
    return replay(folder.octets(journalFile)).slots;
  }

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'derbench-parts-'));
    contents = await kept(['Batt-3Phase']);
    allKinds = await kept(types);
  });

  it('a part of another kind is left out with a warning', async () => {
    const parts = [...contents.keys()].filter((name) => name.startsWith('plant/') && !name.endsWith('clock_settings'));
    for (const name of parts) {
      const folder = new TestFolder();
      await replaceContents(folder, new Map(contents).set(name, ['[7]']));
      const lines: string[] = [];
      const app = appOn(root, folder, lines);
      await app.stop();
      expect(lines.filter((line) => line.includes(' WARN ')).length, name).to.be.at.least(1);
    }
  });

  it('the simulator is built, runs and ends with any part that is odd', async () => {
    await holdsAsync(
      'odd values in parts of plant and devices',
      [oddContents(new Map([...contents].filter(([name]) => name.startsWith('plant/'))))],
      async ({ name, texts }) => {
        const folder = new TestFolder();
        await replaceContents(folder, new Map(contents).set(name, texts));
        const lines: string[] = [];
        const app = appOn(root, folder, lines);
        try {
          await app.plant.step(2);
          const { tick } = app.plant.time;
          expect(tick, name).to.satisfy(Number.isSafeInteger);
        } finally {
          await app.stop();
        }
        expect(lines.filter((line) => / (ERROR|FATAL) /.test(line))).to.deep.equal([]);
      },
      { runs: 60 },
    );
  });

  it('a device whose state gives values that are not finite starts anew, alone and in plain words', async () => {
    const [text = ''] = contents.get('plant/device/0') ?? [];
    const odd = text.replace(/("decision":.*?"powerW":)[-0-9.e]+/, (_all, before: string) => `${before}{"$":"NaN"}`);
    expect(odd).to.not.equal(text);
    const folder = new TestFolder();
    await replaceContents(folder, new Map(contents).set('plant/device/0', [odd]));
    const lines: string[] = [];
    const app = appOn(root, folder, lines);
    await app.plant.step(2);
    await app.stop();
    const loud = lines.filter((line) => / (WARN |ERROR) /.test(line));
    expect(loud).to.have.lengthOf(1);
    expect(loud[0]).to.match(/the kept state of device 0 cannot be used: its [^;]*; it starts anew/);
  });

  it('the simulator starts, runs and answers with any plain value that is odd', async () => {
    await holdsAsync(
      'one odd value deep inside a part of plant or devices',
      [oddLeaves(new Map([...allKinds].filter(([name]) => name.startsWith('plant/'))))],
      async ({ name, place, texts }) => {
        const folder = new TestFolder();
        await replaceContents(folder, new Map(allKinds).set(name, texts));
        const lines: string[] = [];
        const app = appOn(root, folder, lines);
        try {
          const { port } = (await app.start()).http;
          await app.plant.step(2);
          for (const path of paths) {
            const { status, text } = await ask(port, `/api/sim${path}`);
            expect(status, `${name} ${place}: ${path} ${text}`).to.equal(200);
          }
        } finally {
          await app.stop();
        }
        expect(lines.filter((line) => / (ERROR|FATAL) /.test(line))).to.deep.equal([]);
      },
      { runs: 30 },
    );
  });
});
