import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { hex } from '../rig/frames.ts';
import { Site } from './site.ts';

const directory = mkdtempSync(join(tmpdir(), 'point-map-'));
const path = join(directory, 'map.json');
const limit = { type: 'AO', index: 3000, name: 'Limit', min: 0, max: 1000, multiplier: 0.1, bind: 'AO88' };

const write = (points: readonly object[]) => {
  writeFileSync(path, JSON.stringify({ points }));
  return ['--dnp3_points', path];
};

describe('a point map of a user in a whole simulator', () => {
  let site: Site | undefined;
  afterEach(async () => {
    await site?.close();
    site = undefined;
  });
  after(() => rmSync(directory, { recursive: true }));

  it('is served in place of the built-in one', async () => {
    const flags = write([
      { ...limit, read_back: 'AI7' },
      { type: 'AI', index: 7, name: 'Limit', class: 2, multiplier: 0.1 },
    ]);
    site = await Site.open(['PV-3Phase'], flags);
    const master = await site.master();
    const done = await master.ask(5, hex('29 01 28 01 00 b8 0b 90 01 00 00 00'));
    expect(done.objects.at(-1)).to.equal(0);
    expect(site.register('WMaxLimPct')).to.equal(40);
    const all = await master.ask(1, hex('3c 01 06'));
    // one analog input, index 7, online, 400
    expect(all.objects.toString('hex')).to.equal('1e01000707' + '01' + '90010000');
    const { points } = await site.get('dnp3/points');
    expect(points.length).to.equal(2);
  });

  it('with a binding that leads nowhere ends the start, naming its row', async () => {
    const flags = write([limit, { ...limit, index: 3001, bind: '704.WMaxLim' }]);
    let error: unknown;
    try {
      site = await Site.open(['PV-3Phase'], flags);
    } catch (caught) {
      error = caught;
    }
    expect(error).to.be.instanceOf(SimError);
    expect((error as SimError).issues).to.deep.equal([
      { name: 'points.1.bind', detail: 'no model of SunSpec has a point 704.WMaxLim' },
    ]);
  });
});
