import type { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { hex, linkFrame, readFrames } from '../rig/frames.ts';
import { Site } from './site.ts';

const clearRestart = hex('50 01 00 07 07 00');
const [overflow, restart, needTime] = [0x0800, 0x0080, 0x0010];
/** the active power limit, AO88, as a 32-bit value */
const limitTo = (value: string) => hex(`29 01 28 01 00 58 00 ${value} 00`);

describe('outstations and the other parts of a whole simulator', () => {
  let site: Site;
  const lines: string[] = [];
  const logBook = () => createLogBook({ level: 'debug', write: (line) => lines.push(line.trimEnd()) });
  const line = (text: string | RegExp) =>
    lines.find((each) => (typeof text === 'string' ? each.includes(text) : text.test(each)));
  beforeEach(() => (lines.length = 0));
  afterEach(() => site.close());

  it('tell in the log of masters, controls, times and restarts', async () => {
    site = await Site.open(['PV-3Phase'], [], { logBook: logBook() });
    const master = await site.master();
    await master.ask(23);
    await master.ask(5, limitTo('90 01 00 00'));
    await master.ask(5, hex('29 01 28 01 00 ff ff 90 01 00 00 00'));
    await master.ask(3, hex('29 01 28 01 00 58 00 ff 7f ff ff 00'));
    await master.ask(2, hex('32 01 07 01 00 68 e5 cf 8b 01'));
    await master.ask(14);
    const stranger = await site.master(0, 9);
    stranger.send(23);
    await master.ask(23);
    await stranger.close();
    await master.close();
    site.masters.length = 0;
    while (line('disconnected') === undefined) await new Promise((resolve) => setImmediate(resolve));
    expect(line(/INFO .*master 4 connected from 127\.0\.0\.1:\d+/), lines.join('\n')).not.to.equal(undefined);
    expect(line(/operate .* = 400 by master 4@127\.0\.0\.1:\d+: done/)).not.to.equal(undefined);
    expect(line(/master 4 has written the time: \d+\.\d{3} s (behind|ahead of) the local clock/)).not.to.equal(
      undefined,
    );
    const noOutput = 'refused with status 4 \\(there is no such output, or it does not accept this value\\)';
    expect(line(new RegExp(`INFO .*operate AO65535 = 400 by master 4@127\\.0\\.0\\.1:\\d+: ${noOutput}`))).not.to.equal(
      undefined,
    );
    expect(line(/INFO .*select AO88 = -32769 by master .*: refused with status 12 \(out of range\)/)).not.to.equal(
      undefined,
    );
    expect(line('master 4 has asked for a warm restart')).not.to.equal(undefined);
    expect(line('nothing is served for master 9 at address 1')).not.to.equal(undefined);
    expect(line(/master 4 disconnected from/)).not.to.equal(undefined);
  });

  it('show a control in REST with its origin, and in the registers of Modbus', async () => {
    site = await Site.open(['PV-3Phase']);
    const master = await site.master();
    const done = await master.ask(5, limitTo('90 01 00 00'));
    expect(done.objects[done.objects.length - 1]).to.equal(0);
    await site.post('dnp3/messages', { enabled: true });
    await master.ask(5, limitTo('f4 01 00 00'));
    await master.ask(5, limitTo('ff 7f ff ff'));
    const { entries } = await site.get('timeline?kinds=peer,refusal');
    expect(entries.map(({ title, message }: Json) => [title, message])).to.deep.equal([
      ['Registers written', null],
      ['Registers written', 'dnp3/1'],
      ['Control refused', 'dnp3/3'],
    ]);
    await master.ask(5, limitTo('90 01 00 00'));
    const { points } = await site.get('registers/704');
    const limit = points.find(({ name }: Json) => name === 'WMaxLimPct');
    expect(limit).to.include({ source: 'dnp3' });
    const { points: outputs } = await site.get('dnp3/points?type=AO&from=88&to=88');
    expect(outputs[0]).to.include({ coverage: 'served', value: 400, online: true });
  });

  it('close what a device had on a shared port when it leaves', async () => {
    const flags = ['--dnp3_shared_port', 'yes', '--dnp3_outstation_addr', '10'];
    site = await Site.open(['PV-3Phase', 'PV-3Phase'], flags);
    const [first, second] = [await site.master(0), await site.master(1)];
    await first.ask(23);
    await second.ask(23);
    // the connection of the second one is used for both outstations
    second.sendRaw(linkFrame(0xc9, 10, 4));
    await second.nextFrame(({ from }) => from === 10, 0);
    await first.ended();
    await site.post('devices/1/remove', {});
    const before = second.frames.length;
    second.send(23);
    second.sendRaw(linkFrame(0xc9, 10, 4));
    const next = await second.nextFrame(() => true, before);
    expect(next.from).to.equal(10);
  });

  it('refuse a device that would take the address of a master', async () => {
    site = await Site.open(['PV-3Phase'], ['--dnp3_shared_port', 'yes', '--dnp3_outstation_addr', '3']);
    const problem = await site.post('devices', { device_type: 'PV-3Phase' }, 409);
    expect(JSON.stringify(problem)).to.include(
      'would have the link address 4, which is above 65519 or that of a master',
    );
    expect((await site.get('devices')).devices.length).to.equal(1);
  });

  it('carry out every fault of dnp3', async () => {
    site = await Site.open(['PV-3Phase']);
    const master = await site.master();
    await master.ask(2, clearRestart);
    await master.ask(2, hex('32 01 07 01 00 68 e5 cf 8b 01'));
    const fault = (body: Json) => site.post('dnp3/fault', body);
    for (const [kind, bit] of [
      ['restart_bit', restart],
      ['buffer_overflow', overflow],
      ['time_lost', needTime],
    ]) {
      await fault({ kind, count: 1 });
      const { masters } = await site.get('dnp3');
      expect(masters[0].iin.length, String(kind)).to.equal(1);
      expect((await master.ask(23)).iin, String(kind)).to.equal(bit);
      expect((await master.ask(23)).iin, String(kind)).to.equal(0);
    }
    await fault({ kind: 'no_response', function: 23, count: 1 });
    master.send(23);
    await master.quiet();
    expect((await master.ask(23)).functionCode).to.equal(129);
    await fault({ kind: 'no_confirm', count: 1 });
    await site.post('registers/704', { points: { WMaxLimPct: 25 } });
    const events = await master.request(1, hex('3c 02 06 3c 03 06 3c 04 06'));
    const again = await master.request(1, hex('3c 02 06 3c 03 06 3c 04 06'));
    expect(again.at(-1)?.objects).to.deep.equal(events.at(-1)?.objects);
  });

  it('spoil the checksum of a response for bad_crc', async () => {
    site = await Site.open(['PV-3Phase']);
    const { port } = site.endpoint();
    await site.post('dnp3/fault', { kind: 'bad_crc', function: 23, count: 1 });
    const socket = connect(port, '127.0.0.1');
    const answerTo = async (fragment: string) => {
      socket.write(linkFrame(0xc4, 1, 4, hex(`c0 ${fragment}`)));
      const [octets] = (await once(socket, 'data')) as [Buffer];
      return octets;
    };
    const broken = await answerTo('c0 17');
    expect(() => readFrames(broken)).to.throw(/wrong CRC/);
    expect(readFrames(await answerTo('c1 17')).frames.length).to.equal(1);
    socket.destroy();
  });

  it('count in the metrics', async () => {
    site = await Site.open(['PV-3Phase']);
    const master = await site.master();
    await master.ask(5, limitTo('90 01 00 00'));
    await master.ask(5, hex('29 01 28 01 00 ff ff 90 01 00 00 00'));
    await master.ask(99);
    const { text } = await ask(site.running.port, '/api/sim/metrics');
    const value = (name: string) => Number(new RegExp(`^derbench_dnp3_${name}_total (\\d+)$`, 'm').exec(text)?.[1]);
    expect([value('connections'), value('requests'), value('responses'), value('frames_in')]).to.deep.equal([
      1, 3, 3, 3,
    ]);
    expect([value('controls_done'), value('controls_refused'), value('refusals')]).to.deep.equal([1, 1, 2]);
  });

  it('have the device profile as a document', async () => {
    site = await Site.open(['Batt-3Phase']);
    const { document } = await site.get('dnp3/device-profile');
    expect(document).to.match(/^<\?xml version="1\.0" encoding="UTF-8"\?>\s*<DNP3DeviceProfileDocument/);
  });

  it('filter points and messages', async () => {
    site = await Site.open(['PV-3Phase']);
    const master = await site.master();
    await site.post('dnp3/messages', { enabled: true });
    await master.ask(23);
    await master.ask(1, hex('3c 02 06'));
    const names = async (query: string) =>
      (await site.get(`dnp3/messages?${query}`)).messages.map(({ function: name }: Json) => name);
    expect(await names('function=delay_measure')).to.deep.equal(['delay_measure']);
    expect(await names('direction=out')).to.deep.equal(['response', 'response']);
    expect(await names('limit=1')).to.deep.equal(['response']);
    const { points } = await site.get('dnp3/points?type=BI&coverage=absent&from=0&to=30');
    expect(points.length).to.be.greaterThan(0);
    for (const { type, coverage, index, value } of points) {
      expect([type, coverage, value]).to.deep.equal(['BI', 'absent', null]);
      expect(index).to.be.within(0, 30);
    }
    const refused = await ask(site.running.port, '/api/sim/dnp3/points?type=XX');
    expect(refused.status).to.equal(422);
  });
});
