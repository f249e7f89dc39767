import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { hex } from '../rig/frames.ts';
import { Site } from '../whole/site.ts';

const classOne = hex('3c 02 06 1e 00 00 95 95');

describe('outstations of DNP3 in a simulator with a state folder', () => {
  let folder: string;
  let site: Site;
  const open = async (...flags: readonly string[]) => {
    site = await Site.open(['PV-3Phase', 'PV-3Phase'], ['--state_dir', folder, ...flags]);
    return site;
  };
  const classOf = async (device = 0) =>
    (await site.get(`dnp3/points?device=${device}&type=AI&from=149&to=149`)).points[0].class;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-dnp3-'));
  });
  afterEach(async () => {
    await site.close();
    await rm(folder, { recursive: true });
  });

  it('go on in the next process, each device with its own state', async () => {
    await open();
    await (await site.master()).ask(22, classOne);
    await site.close();
    await open();
    expect([await classOf(0), await classOf(1)]).to.deep.equal([1, 2]);
    const second = await site.master();
    expect((await second.ask(23)).iin & 0x90).to.equal(0x90);
  });

  it('begin anew with another profile, whose points are others', async () => {
    await open();
    await (await site.master()).ask(22, classOne);
    await site.close();
    await open('--dnp3_profile', 'ieee1815.2');
    expect(await classOf()).to.equal(2);
  });
});
