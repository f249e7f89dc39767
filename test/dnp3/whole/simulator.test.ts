import { expect } from 'chai';
import type { Json } from '../../support/http.ts';
import { hex } from '../rig/frames.ts';
import { Site } from './site.ts';

const classes = hex('3c 02 06 3c 03 06 3c 04 06 3c 01 06');
const clearRestart = hex('50 01 00 07 07 00');
const bo17 = (code: string) => hex(`0c 01 28 01 00 11 00 ${code} 01 64 00 00 00 64 00 00 00 00`);
const [restart, needTime] = [0x0080, 0x0010];

describe('outstations of a whole simulator', () => {
  let site: Site;
  afterEach(() => site.close());

  it('go through the start-up conversation of a master', async () => {
    site = await Site.open(['Batt-3Phase']);
    const master = await site.master();
    expect((await master.ask(21, hex('3c 02 06'))).iin).to.equal(restart | needTime | 0x0100);
    expect((await master.ask(2, clearRestart)).iin).to.equal(needTime);
    const answer = await master.request(1, classes);
    expect(answer.length).to.be.greaterThan(1);
    expect(answer.map(({ seq }) => seq)).to.deep.equal(answer.map((_, i) => (2 + i) % 16));
    expect((await master.ask(2, hex('32 01 07 01 00 68 e5 cf 8b 01'))).iin).to.equal(0);
    const { masters, link } = await site.get('dnp3');
    expect(link).to.include({ listening: true, outstation: 1, connections: 1 });
    expect(masters[0]).to.include({ address: 4, connected: true, overflow: false });
    const { comm_status: comm } = await site.get('overview');
    expect(comm.dnp3).to.include({ enabled: true, state: 'listening', peers: 1 });
  });

  it('carry a control into registers, physics and REST, and tell a write of REST as an event', async () => {
    site = await Site.open(['PV-3Phase']);
    const master = await site.master();
    await master.ask(2, clearRestart);
    await master.ask(3, bo17('03'));
    await master.ask(4, bo17('03'));
    await master.ask(5, hex('29 01 28 01 00 58 00 90 01 00 00 00'));
    expect([site.register('WMaxLimPctEna'), site.register('WMaxLimPct')]).to.deep.equal(['ENABLED', 40]);
    await site.post('controls/time/step', { ticks: 40 });
    expect(Number(site.register('W', 701))).to.be.closeTo(4000, 60);
    await master.request(1, hex('3c 02 06 3c 03 06 3c 04 06'));
    await site.post('registers/704', { points: { WMaxLimPct: 25 } });
    const event = await master.ask(1, hex('3c 03 06'));
    expect(event.objects.toString('hex')).to.include('20012801009500' + '01' + 'fa000000');
    const { points } = await site.get('dnp3/points?type=AI&from=149&to=149');
    expect(points[0]).to.include({ coverage: 'served', bound_to: '704.WMaxLimPct', value: 250, class: 2 });
    const { points: registers } = await site.get('registers/704');
    const enable = registers.find(({ name }: Json) => name === 'WMaxLimPctEna');
    expect([enable.source, /^4@127\.0\.0\.1:\d+$/.test(enable.source_detail)]).to.deep.equal(['dnp3', true]);
  });

  it('serve several masters, each with events and a time of its own', async () => {
    site = await Site.open(['PV-3Phase'], ['--dnp3_remote_addr', '4,5']);
    const [one, two] = [await site.master(0, 4), await site.master(0, 5)];
    for (const master of [one, two]) {
      await master.ask(2, clearRestart);
      await master.request(1, classes);
    }
    await site.post('registers/704', { points: { WMaxLimPct: 33 } });
    const first = await one.ask(1, hex('3c 03 06'));
    one.confirm(first);
    await one.quiet();
    expect((await one.ask(1, hex('3c 03 06'))).objects.length).to.equal(0);
    expect((await two.ask(1, hex('3c 03 06'))).objects.length).to.be.greaterThan(0);
    await one.ask(2, hex('32 01 07 01 00 68 e5 cf 8b 01'));
    expect((await one.ask(23)).iin & needTime).to.equal(0);
    expect((await two.ask(23)).iin & needTime).to.equal(needTime);
  });

  for (const remoteClock of ['wall', 'simulated'])
    it(`tell the same time of an event in every transmission, --remote_clock ${remoteClock}`, async () => {
      site = await Site.open(['PV-3Phase'], ['--remote_clock', remoteClock]);
      const master = await site.master();
      await master.ask(2, clearRestart);
      await site.post('controls/time/step', { ticks: 3 });
      await master.ask(2, hex('32 01 07 01 00 68 e5 cf 8b 01'));
      await master.ask(5, bo17('03'));
      const read = async () => {
        const from = master.fragments.length;
        master.send(1, hex('02 02 06'));
        const { objects } = await master.next(({ functionCode }) => functionCode === 129, from);
        return objects.readUIntLE(objects.indexOf(hex('45 00 81')) + 3, 6);
      };
      const first = await read();
      expect(first - 1_700_000_000_000).to.be.within(0, 5000);
      await site.post('controls/time/step', { ticks: 40 });
      expect(await read()).to.equal(first);
      await site.post('controls/time', { mode: 'accelerated', rate: 60 });
      expect(await read()).to.equal(first);
    });

  it('send the first unsolicited response to a master that only listens', async () => {
    site = await Site.open(['PV-3Phase'], ['--dnp3_unsolicited', 'yes']);
    const master = await site.master();
    const first = await master.next(({ uns }) => uns, 0);
    expect(first.iin & restart).to.equal(restart);
    expect(first.objects.length).to.equal(0);
    master.confirm(first);
    await master.quiet();
    const { masters } = await site.get('dnp3');
    expect(masters[0]).to.deep.include({ connected: true });
    expect(masters[0].unsolicited).to.deep.include({ configured: true, null_confirmed: true });
  });

  it('end the old connection of a master that connects again, and ignore strangers', async () => {
    site = await Site.open(['PV-3Phase']);
    const old = await site.master();
    await old.ask(23);
    const fresh = await site.master();
    await fresh.ask(23);
    await old.ended();
    const stranger = await site.master(0, 9);
    stranger.send(23);
    await fresh.ask(23);
    expect(stranger.frames).to.deep.equal([]);
  });

  it('share a port by link address, and hear broadcasts', async () => {
    site = await Site.open(['PV-3Phase', 'Batt-3Phase'], ['--dnp3_shared_port', 'yes', '--dnp3_outstation_addr', '10']);
    expect(site.endpoint(0).port).to.equal(site.endpoint(1).port);
    expect([site.endpoint(0).outstation, site.endpoint(1).outstation]).to.deep.equal([10, 11]);
    const [pv, battery] = [await site.master(0), await site.master(1)];
    await pv.ask(2, clearRestart);
    await battery.ask(2, clearRestart);
    pv.sendFragment(hex('c5 07 14 00 06'), 0xfffd);
    expect((await pv.ask(23)).iin & 1).to.equal(1);
    expect((await battery.ask(23)).iin & 1).to.equal(1);
    expect((await battery.ask(23)).iin & 1).to.equal(0);
  });

  it('follow devices that join and leave', async () => {
    site = await Site.open(['PV-3Phase']);
    await site.post('devices', { device_type: 'Batt-3Phase' }, 201);
    const master = await site.master(1);
    expect((await master.ask(23)).functionCode).to.equal(129);
    await site.post('devices/1/remove', {});
    await master.ended();
    expect(() => site.endpoint(1)).to.throw(/no outstation/);
  });

  it('are silent while the device is off, and have restarted after it', async () => {
    site = await Site.open(['PV-3Phase']);
    const master = await site.master();
    await master.ask(2, clearRestart);
    await master.ask(2, hex('32 01 07 01 00 68 e5 cf 8b 01'));
    await site.post('faults', { inject: [{ protocol: 'device', kind: 'reboot', off_s: 10 }] });
    await site.post('controls/time/step', { ticks: 2 });
    const before = master.frames.length;
    master.send(23);
    await site.get('dnp3');
    expect(master.frames.length).to.equal(before);
    await site.post('controls/time/step', { ticks: 20 });
    expect((await master.ask(23)).iin & (restart | needTime)).to.equal(restart | needTime);
  });

  it('carry out the faults of dnp3', async () => {
    site = await Site.open(['PV-3Phase']);
    const master = await site.master();
    await master.ask(2, clearRestart);
    await site.post('dnp3/fault', { kind: 'restart_bit' });
    expect((await master.ask(23)).iin & restart).to.equal(restart);
    await site.post('dnp3/fault', { kind: 'wrong_sequence', shift: 3, count: 1 });
    const seq = master.send(23);
    expect((await master.next()).seq).to.equal((seq + 3) % 16);
    await site.post('faults', { clear: true });
    expect((await master.ask(23)).iin & restart).to.equal(0);
  });

  it('keep messages for REST while that is switched on', async () => {
    site = await Site.open(['PV-3Phase']);
    const master = await site.master();
    await site.post('dnp3/messages', { enabled: true });
    await master.ask(1, hex('1e 01 01 18 02 19 02'));
    const { messages } = await site.get('dnp3/messages');
    expect(messages.map((each: Json) => [each.direction, each.function, each.objects])).to.deep.equal([
      ['in', 'read', ['g30v1 536..537']],
      ['out', 'response', ['g30v1 536..537']],
    ]);
  });

  it('answer as switched off without --dnp3_enable', async () => {
    site = await Site.open(['PV-3Phase'], ['--dnp3_enable', 'no']);
    expect(await site.get('dnp3')).to.deep.include({ enabled: false, masters: [] });
    expect(await site.get('dnp3/points')).to.deep.include({ enabled: false, points: [] });
    await site.post('dnp3/messages', { enabled: true }, 409);
    await site.post('dnp3/fault', { kind: 'no_confirm' }, 409);
  });
});
