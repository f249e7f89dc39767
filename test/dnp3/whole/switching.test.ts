/** Outstations that are switched off and on, and restarted for other settings, while the simulator runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import { settingsOf, Subscriptions } from '../../support/left-behind.ts';
import { closed, freePorts, occupied } from '../../support/ports.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { hex } from '../rig/frames.ts';
import type { TestMaster } from '../rig/master.ts';
import { Site } from './site.ts';

const directOperate = 5;
const restart = 0x0080;
const octets = (value: number, size: number): string => {
  const text = Buffer.alloc(size);
  text.writeUIntLE(value, 0, size);
  return text.toString('hex');
};
const analog = (index: number, value: number) => hex(`290128 0100 ${octets(index, 2)} ${octets(value, 4)} 00`);
const binary = (index: number) => hex(`0c0128 0100 ${octets(index, 2)} 03 01 64000000 64000000 00`);
/** limit of generation: output of the mode, its percentage */
const [limitMode, limitPct] = [17, 88];

describe('outstations that are switched off, on and restarted at run time', () => {
  /** has the lock of the state folder */
  const root = mkdtempSync(join(tmpdir(), 'derbench-switching-'));
  after(() => {
    rmSync(root, { recursive: true });
  });
  let site: Site;
  const open = async (isKept = false, type = 'PV-3Phase') => {
    const folder = new TestFolder();
    site = await Site.open([type], ['--remote_clock', 'simulated', ...(isKept ? ['--state_dir', root] : [])], {
      openStateFolder: () => folder,
    });
  };
  const patch = async (body: unknown) => {
    const { status, text } = await ask(site.running.port, '/api/sim/settings', { method: 'PATCH', body });
    expect(status, text).to.equal(200);
  };
  const refuse = async (body: unknown) => {
    const { status, json } = await ask(site.running.port, '/api/sim/settings', { method: 'PATCH', body });
    expect([status, json.code], json.detail).to.deep.equal([409, 'conflict']);
  };
  const move = async () => {
    await patch({ dnp3_port: await freePorts(1) });
  };
  const limit = () => [site.register('WMaxLimPctEna'), site.register('WMaxLimPct')];
  const settings = () => settingsOf(site.running.app, 0);
  const operate = async (master: TestMaster, object: Buffer) => {
    const { objects } = await master.ask(directOperate, object);
    expect(objects.at(-1), `status of ${object.toString('hex')}`).to.equal(0);
  };
  /** A schedule that limits generation to 40 % from now on for an hour. */
  const schedule = async (master: TestMaster) => {
    const { plant } = site.running.app;
    const startMs = Math.round(plant.dateMs(plant.time.sim));
    const dayMs = 86_400_000;
    const members = [
      ...[1, 101, 1, 13, Math.floor(startMs / dayMs), startMs % dayMs, 0, 0].map((value, i) => [461 + i, value]),
      ...[0, 400, 3600, 0].map((value, i) => [470 + i, value]),
    ];
    for (const [index = 0, value = 0] of [...members, [469, 2]]) await operate(master, analog(index, value));
    await operate(master, binary(42));
  };
  afterEach(() => site.close());

  it('a restart: connections end, masters see IIN1.7, and what they have set in the registers stays', async () => {
    await open();
    const master = await site.master();
    await master.ask(2, hex('50 01 00 07 07 00'));
    await operate(master, analog(limitPct, 400));
    await operate(master, binary(limitMode));
    const before = settings();
    await move();
    await master.ended();
    expect(settings()).to.deep.equal(before);
    const { iin } = await (await site.master()).ask(1, hex('3c 02 06'));
    expect(iin & restart).to.equal(restart);
  });

  for (const isKept of [false, true])
    it(`a restart ${isKept ? 'with' : 'without'} a state folder: the schedule ${isKept ? 'goes on' : 'is gone'}`, async () => {
      await open(isKept);
      const before = settings();
      await schedule(await site.master());
      expect(limit()).to.deep.equal(['ENABLED', 40]);
      await move();
      expect(limit()).to.deep.equal(isKept ? ['ENABLED', 40] : ['DISABLED', 100]);
      await site.post('controls/time/step', { ticks: 3700 });
      expect(settings()).to.deep.equal(before);
    });

  for (const isKept of [false, true])
    it(`switched off ${isKept ? 'with' : 'without'} a state folder: schedules end, commands stay, nothing listens`, async () => {
      await open(isKept);
      await patch({ dnp3_enable: false });
      const [before, subscriptions] = [settings(), new Subscriptions(site.running.app)];
      await patch({ dnp3_enable: true });
      await schedule(await site.master());
      await patch({ dnp3_enable: false });
      expect(settings()).to.deep.equal(before);
      expect(new Set(Object.values(subscriptions.counts))).to.deep.equal(new Set([0]));
      await patch({ dnp3_enable: true });
      expect(limit()).to.deep.equal(['DISABLED', 100]);
      const master = await site.master();
      await operate(master, analog(limitPct, 300));
      await operate(master, binary(limitMode));
      await patch({ dnp3_enable: false });
      expect(limit()).to.deep.equal(['ENABLED', 30]);
    });

  for (const [what, changeTo] of [
    ['a port of its own', (port: number) => ({ dnp3_port: port })],
    ['one that is to be switched off', (port: number) => ({ dnp3_enable: false, mb_port: port })],
  ] as const)
    it(`a refused change of ${what}: with a state folder the schedule goes on, and the next change works`, async () => {
      await open(true);
      const before = settings();
      await schedule(await site.master());
      const during = settings();
      const { server, port } = await occupied();
      await refuse(changeTo(port));
      expect(settings()).to.deep.equal(during);
      await closed(server);
      await move();
      expect(settings()).to.deep.equal(during);
      await site.post('controls/time/step', { ticks: 3700 });
      expect(settings()).to.deep.equal(before);
    });

  for (const isKept of [false, true])
    it(`switched off ${isKept ? 'with' : 'without'} a state folder: the limit of charging ends`, async () => {
      await open(isKept, 'Batt-3Phase');
      const chargeLimit = () => site.running.app.plant.siteOf([0]).limits.load.limitW;
      const master = await site.master();
      await operate(master, analog(87, 400));
      await operate(master, binary(limitMode));
      expect(chargeLimit()).to.be.greaterThan(0);
      await patch({ dnp3_enable: false });
      expect(chargeLimit()).to.equal(null);
    });

  it('a refused change without a state folder: commands in registers stay, and the schedule ends', async () => {
    await open();
    const before = settings();
    await schedule(await site.master());
    const { server, port } = await occupied();
    await refuse({ dnp3_port: port });
    expect(settings()).to.deep.equal(before);
    const master = await site.master();
    await operate(master, analog(limitPct, 300));
    await operate(master, binary(limitMode));
    await refuse({ dnp3_enable: false, mb_port: port });
    await closed(server);
    expect(limit()).to.deep.equal(['ENABLED', 30]);
  });

  it('a change that is refused after a device has opened leaves its schedule in force', async () => {
    await open(true);
    await site.post('devices', { device_type: 'PV-3Phase' }, 201);
    await schedule(await site.master());
    const during = settings();
    const { server, port } = await occupied(2);
    await refuse({ dnp3_port: port - 1 });
    await closed(server);
    expect(settings()).to.deep.equal(during);
  });

  it('messages are recorded over a restart', async () => {
    await open();
    await site.post('dnp3/messages', { enabled: true });
    await (await site.master()).ask(1, hex('3c 02 06'));
    await move();
    await (await site.master()).ask(1, hex('3c 02 06'));
    const { messages } = await site.get('dnp3/messages');
    expect(messages.map(({ id }: { id: number }) => id)).to.deep.equal([1, 2, 3, 4]);
  });
});
