/** The client switched off and on, and restarted for other settings, while the simulator runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CsipClient } from '../../../src/contract/csip-client.ts';
import type { Device } from '../../../src/contract/device.ts';
import type { DeviceAdapter } from '../../../src/core/device-adapter.ts';
import { HeadEnd } from '../head-end/head-end.ts';
import type { Control, Program } from '../head-end/model.ts';
import { headEndPki } from '../../support/head-end.ts';
import { ask } from '../../support/http.ts';
import { settingsOf, Subscriptions } from '../../support/left-behind.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { Site } from './site.ts';

const voltVar = {
  id: 1,
  mRID: 'A1'.repeat(16),
  curveType: 11,
  points: [
    { x: 92, y: 30 },
    { x: 98, y: 0 },
    { x: 102, y: 0 },
    { x: 108, y: -30 },
  ],
  xMultiplier: 0,
  yMultiplier: 0,
  yRefType: 2,
};

describe('a client at a head-end: switched off, on and restarted at run time', () => {
  /** has the lock of the state folder */
  const root = mkdtempSync(join(tmpdir(), 'derbench-switching-'));
  after(() => {
    rmSync(root, { recursive: true });
  });
  let site: Site;
  let program: Program;
  const open = async (isKept = false) => {
    const folder = new TestFolder();
    site = await Site.open({
      ...(isKept && { flags: ['--state_dir', root], app: { openStateFolder: () => folder } }),
      prepare(headEnd, [lfdi = '']) {
        headEnd.register(lfdi);
        program = headEnd.program();
      },
    });
    await site.advance(70);
  };
  afterEach(() => site.close());

  const statuses = ({ mRID }: Control) => site.headEnd.statuses(mRID);
  const limit = async () => (await site.points(704)).WMaxLimPct;
  const settings = () => settingsOf(site.app, 0);
  const alarms = () => site.app.plant.device(0).alarms.map(({ code }) => code);
  const switchOff = () => site.patch({ csip_client_enable: false });
  const restart = () => site.patch({ csip_lost_after_s: 400 });

  for (const isKept of [false, true])
    describe(isKept ? 'with a state folder' : 'without a state folder', () => {
      it('a restart towards the same server: the controls go on, and no response is repeated', async () => {
        await open(isKept);
        const curve = site.headEnd.curve(program, voltVar);
        const running = site.headEnd.control(program, {
          modes: { opModMaxLimW: 5000, opModVoltVar: curve },
          inS: 80,
          durationS: 400,
        });
        const out = site.headEnd.control(program, {
          modes: { opModFixedPFInjectW: { displacement: 900, excitation: true, multiplier: -3 } },
          inS: 300,
          durationS: 60,
        });
        const later = site.headEnd.control(program, { modes: { opModMaxLimW: 3000 }, inS: 600, durationS: 60 });
        await site.responded(running, 2);
        await site.post(`csip/controls/${out.mRID}/opt`, { in: false });
        const before = settings();
        await restart();
        expect(site.timers.waiting).to.be.greaterThan(0);
        await site.until('the limit', 60, async () => ((await limit()) === 50 ? true : undefined));
        expect(settings()).to.deep.equal(before);
        await site.responded(later, 3, 900);
        expect([running, out, later].map(statuses)).to.deep.equal([
          [1, 2, 3],
          [1, 10],
          [1, 2, 3],
        ]);
      });

      it('switched off, everything in the device is as before, and nothing waits or listens', async () => {
        await open(isKept);
        await switchOff();
        const [before, subscriptions] = [settings(), new Subscriptions(site.app)];
        await site.patch({ csip_client_enable: true, csip_subscribe: true, csip_notify_port: 0 });
        site.headEnd.setDefault(program, { opModMaxLimW: 9000 }, { setGradW: 50 });
        const curve = site.headEnd.curve(program, voltVar);
        const control = site.headEnd.control(program, {
          modes: { opModMaxLimW: 5000, opModVoltVar: curve },
          inS: 150,
          durationS: 4000,
        });
        await site.responded(control, 2, 300);
        await switchOff();
        expect(settings()).to.deep.equal(before);
        expect(site.timers.waiting).to.equal(0);
        expect(new Set(Object.values(subscriptions.counts))).to.deep.equal(new Set([0]));
        expect((await site.get('csip/status')).enabled).to.equal(false);
        await site.advance(20);
        await site.patch({ csip_client_enable: true });
        await site.until('the limit', 60, async () => ((await limit()) === 50 ? true : undefined));
        expect(statuses(control)).to.deep.equal([1, 2]);
      });
    });

  it('another server: its programs act, and not those of the former one', async () => {
    await open();
    const pki = await headEndPki();
    const other = await HeadEnd.open({
      tls: { identity: pki.server, ca: pki.root.cert },
      nowMs: () => site.wall.nowMs(),
    });
    const [lfdi = ''] = site.lfdis;
    other.register(lfdi);
    other.program({ default: { opModMaxLimW: 7000 } }).mRID = 'B2'.repeat(16);
    const control = site.headEnd.control(program, { modes: { opModMaxLimW: 5000 }, inS: 80, durationS: 4000 });
    await site.responded(control, 2);
    await site.patch({ csip_server_port: other.port });
    await site.until('the limit of the other one', 20, async () => ((await limit()) === 70 ? true : undefined));
    // at the address that the event names for its responses
    expect(statuses(control)).to.deep.equal([1, 2, 6]);
    expect(other.responses.map(({ mRID }) => mRID)).to.not.include(control.mRID);
    await switchOff();
    expect(await limit()).to.equal(100);
    await other.close();
  });

  it('under local control the device gives the controls up too', async () => {
    await open();
    const device = site.app.plant.device(0);
    const { pctPerS } = device.gradient.w;
    site.headEnd.setDefault(program, { opModMaxLimW: 5000 }, { setGradW: 50 });
    await site.until('the slope', 200, () => (device.gradient.w.pctPerS === pctPerS ? undefined : true));
    await site.post('controls/local', { local: true });
    await switchOff();
    expect([await limit(), device.gradient.w.pctPerS]).to.deep.equal([100, pctPerS]);
  });

  it('the alarm of a lost connection ends with the client', async () => {
    await open();
    site.headEnd.trick('GET', /./, { kind: 'answer', status: 503 });
    await site.until('the alarm', 900, () => (alarms().length > 0 ? true : undefined), 20);
    expect(alarms()).to.deep.equal(['csip_connection_lost']);
    await switchOff();
    expect(alarms()).to.deep.equal([]);
  });

  it('who follows events sees them after a restart too', async () => {
    await open();
    const { view } = site.app.adapters.find(({ comm }) => comm === 'csip') as DeviceAdapter<Device, CsipClient>;
    const states: string[] = [];
    view.onEvent(({ state }) => states.push(state));
    await restart();
    await site.responded(site.headEnd.control(program, { modes: { opModMaxLimW: 5000 }, inS: 80 }), 3, 300);
    expect([...new Set(states)]).to.deep.equal(['scheduled', 'active', 'completed']);
  });

  for (const [what, changeTo] of [
    [
      'a listener for notifications that cannot open',
      (port: number) => ({ csip_subscribe: true, csip_notify_port: port }),
    ],
    ['switched off beside a port in use', (port: number) => ({ csip_client_enable: false, mb_port: port })],
  ] as const)
    it(`${what}: 409, and the controls go on`, async () => {
      await open();
      const control = site.headEnd.control(program, { modes: { opModMaxLimW: 5000 }, inS: 80, durationS: 400 });
      await site.responded(control, 2);
      const body = changeTo(site.headEnd.port);
      const { status, json } = await ask(site.port, '/api/sim/settings', { method: 'PATCH', body });
      expect([status, json.code]).to.deep.equal([409, 'conflict']);
      await site.until('the limit', 60, async () => ((await limit()) === 50 ? true : undefined));
      await site.responded(control, 3, 500);
      expect(statuses(control)).to.deep.equal([1, 2, 3]);
    });

  it('messages are recorded over a restart', async () => {
    await open();
    await site.post('csip/messages', { enabled: true });
    await site.post('csip/poll', {});
    await site.settle();
    const ids = async () => (await site.get('csip/messages')).messages.map(({ id }: { id: number }) => id);
    const [first] = await ids();
    await restart();
    await site.until('more messages', 30, async () => ((await ids()).at(-1) > first ? true : undefined));
    expect((await ids())[0]).to.equal(first);
  });
});
