/** Every bundled set of faults in a running simulator, as a master on the wire sees it. */
import { expect } from 'chai';
import { bundledFaultProfileNames } from '../src/config/profile/bundled.ts';
import type { PointSlot } from '../src/sunspec/map/layout.ts';
import type { Bank } from '../src/sunspec/map/bank.ts';
import type { ModbusAdapter } from '../src/sunspec/modbus/bridge.ts';
import { readRequest, adu, RawClient } from './support/modbus-client.ts';
import { ask } from './support/http.ts';
import type { Json } from './support/http.ts';
import { until } from './support/modbus-tls.ts';
import { modbusEndpoint, startApp } from './support/running-app.ts';
import type { RunningApp, RunningOptions } from './support/running-app.ts';
import { HandWall } from './support/wall.ts';
import { refusalAt } from './sunspec/modbus/faults/wire-rig.ts';

const base = 40_000;
const marker = '53756e53';

/** One PV device with a set of faults, and masters on its port. */
class Bed {
  readonly running: RunningApp;
  readonly #clients: RawClient[] = [];
  #transaction = 0;

  constructor(running: RunningApp) {
    this.running = running;
  }

  get plant() {
    return this.running.app.plant;
  }
  get bank(): Bank {
    return this.plant.device(0).bank;
  }

  async connect(): Promise<RawClient> {
    const client = await RawClient.open(modbusEndpoint(this.running.app, 0).port);
    this.#clients.push(client);
    return client;
  }

  refusal(): Promise<string> {
    return refusalAt(modbusEndpoint(this.running.app, 0).port);
  }

  /** True if the port of the device is open. */
  get isAccepting(): boolean {
    const modbus = this.running.app.adapters.find(({ comm }) => comm === 'modbus_tcp') as ModbusAdapter;
    return modbus.report().listeners[0]?.accepting === true;
  }

  slot(name: string): PointSlot {
    const [model = '', path = ''] = name.split(/\.(.*)/s);
    const found = this.bank.layout.slot(Number(model), path);
    if (found === undefined) throw new Error(`no point ${name}`);
    return found;
  }

  /** The PDU that answers one, in hex. */
  async ask(client: RawClient, pdu: string, unitId = 1): Promise<string> {
    this.#transaction += 1;
    client.send(adu(this.#transaction, unitId, pdu));
    return (await client.answer()).subarray(7).toString('hex');
  }

  /** Registers as a master reads them, in hex; an exception as the PDU of the answer. */
  async read(client: RawClient, address: number, count: number): Promise<string> {
    const pdu = await this.ask(client, `03${hex(address)}${hex(count)}`);
    return pdu.startsWith('03') ? pdu.slice(4) : pdu;
  }

  async point(client: RawClient, name: string): Promise<string> {
    const { address, def } = this.slot(name);
    return this.read(client, address, def.size);
  }

  truth(name: string): string {
    const { address, def } = this.slot(name);
    return this.bank.read(address, def.size).toString('hex');
  }

  async write(client: RawClient, name: string, ...words: readonly number[]): Promise<string> {
    const { address } = this.slot(name);
    if (words.length === 1) return this.ask(client, `06${hex(address)}${hex(words[0] ?? 0)}`);
    return this.ask(
      client,
      `10${hex(address)}${hex(words.length)}${(words.length * 2).toString(16).padStart(2, '0')}${words.map(hex).join('')}`,
    );
  }

  /** Full sun, or none. */
  async sun(irradianceWm2: number): Promise<void> {
    this.plant.setSurroundings({ irradianceWm2, cellTemperatureC: 25 });
    await this.plant.step(60);
  }

  get powerW(): number {
    return this.bank.map.m701.W ?? 0;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.destroy();
    await this.running.app.stop();
  }
}

const hex = (word: number) => (word & 0xffff).toString(16).padStart(4, '0');
const exceptionOf = (pdu: string) =>
  /^[89a-f]/.test(pdu) && pdu.length === 4 ? Number.parseInt(pdu.slice(2), 16) : null;

const shown: Readonly<Record<string, (bed: Bed) => Promise<void>>> = {
  async 'slow-answers'(bed) {
    const client = await bed.connect();
    const from = performance.now();
    expect(await bed.read(client, base, 2)).to.equal(marker);
    expect(performance.now() - from).to.be.at.least(295);
  },
  async 'one-connection'(bed) {
    const first = await bed.connect();
    expect(await bed.read(first, base, 2)).to.equal(marker);
    expect(await bed.refusal()).to.equal('reset');
    expect(await bed.read(first, base, 2)).to.equal(marker);
  },
  async 'one-connection-newest-wins'(bed) {
    const first = await bed.connect();
    expect(await bed.read(first, base, 2)).to.equal(marker);
    const second = await bed.connect();
    await first.untilClosed();
    expect(await bed.read(second, base, 2)).to.equal(marker);
  },
  async 'every-second-poll-lost'(bed) {
    const client = await bed.connect();
    for (const transaction of [1, 2, 3, 4, 5]) client.send(readRequest(transaction, base, 2));
    const answered = [await client.answer(), await client.answer(), await client.answer()].map((answer) =>
      answer.readUInt16BE(0),
    );
    expect(answered).to.deep.equal([1, 3, 5]);
  },
  async 'no-fc6'(bed) {
    const client = await bed.connect();
    expect(exceptionOf(await bed.write(client, '704.WMaxLimPctEna', 1))).to.equal(1);
    expect(bed.bank.map.m704.WMaxLimPctEna).to.equal('DISABLED');
    const { address } = bed.slot('704.WMaxLimPctEna');
    expect(await bed.ask(client, `10${hex(address)}0001020001`)).to.equal(`10${hex(address)}0001`);
    expect(bed.bank.map.m704.WMaxLimPctEna).to.equal('ENABLED');
  },
  async 'no-fc16-single'(bed) {
    const client = await bed.connect();
    const { address } = bed.slot('704.WMaxLimPctEna');
    expect(exceptionOf(await bed.ask(client, `10${hex(address)}0001020001`))).to.equal(2);
    expect(exceptionOf(await bed.write(client, '704.WMaxLimPctEna', 1))).to.equal(null);
    expect(exceptionOf(await bed.write(client, '704.WMaxLimPctEna', 1, 5000))).to.equal(null);
  },
  async 'unit-id-strict'(bed) {
    const client = await bed.connect();
    for (const [transaction, unitId] of [
      [1, 0],
      [2, 255],
      [3, 1],
    ] as const)
      client.send(readRequest(transaction, base, 2, unitId));
    expect((await client.answer()).readUInt16BE(0)).to.equal(3);
  },
  async 'night-shut-off'(bed) {
    await bed.sun(1000);
    expect(await bed.read(await bed.connect(), base, 2)).to.equal(marker);
    await bed.sun(0);
    expect(bed.powerW).to.be.below(1);
    expect(await bed.refusal()).to.be.oneOf(['reset', 'ECONNREFUSED']);
    await bed.sun(1000);
    // a closed port opens within half a second of its condition
    await until(() => bed.isAccepting);
    expect(await bed.read(await bed.connect(), base, 2)).to.equal(marker);
  },
  async 'nan-at-night'(bed) {
    const client = await bed.connect();
    await bed.sun(1000);
    expect(await bed.point(client, '701.VA')).to.equal(bed.truth('701.VA'));
    await bed.sun(0);
    expect([
      await bed.point(client, '701.A'),
      await bed.point(client, '701.PF'),
      await bed.point(client, '714.DCW'),
    ]).to.deep.equal(['8000', '8000', '8000']);
    expect(await bed.point(client, '701.W')).to.equal(bed.truth('701.W'));
  },
  async 'dynamic-scale-factors'(bed) {
    const client = await bed.connect();
    const read = async () => ({
      raw: Number.parseInt(await bed.point(client, '701.W'), 16),
      sf: Buffer.from(await bed.point(client, '701.W_SF'), 'hex').readInt16BE(),
    });
    await bed.sun(200);
    const dim = await read();
    await bed.sun(1000);
    const bright = await read();
    expect(bright.sf - dim.sf).to.equal(1);
    expect(bright.raw * 10 ** bright.sf).to.be.closeTo(bed.powerW, 10 ** bright.sf);
  },
  async 'wrong-chain-end'(bed) {
    const { address, length } = bed.bank.layout.models.at(-1) ?? { address: 0, length: 0 };
    expect(await bed.read(await bed.connect(), address + 2 + length, 1)).to.equal('0000');
  },
  async 'base-0'(bed) {
    const client = await bed.connect();
    expect(await bed.read(client, 0, 2)).to.equal(marker);
    expect(exceptionOf(await bed.read(client, base, 2))).to.equal(2);
  },
  async 'base-50000'(bed) {
    const client = await bed.connect();
    expect(await bed.read(client, 50_000, 2)).to.equal(marker);
    expect(exceptionOf(await bed.read(client, base, 2))).to.equal(2);
  },
  async 'length-65'(bed) {
    expect(await bed.read(await bed.connect(), base + 2, 2)).to.equal('00010041');
    expect(await bed.read(await bed.connect(), base + 4 + 65, 1)).to.equal(hex(701));
  },
  async 'length-65-lie'(bed) {
    const client = await bed.connect();
    expect(await bed.read(client, base + 2, 2)).to.equal('00010041');
    expect(await bed.read(client, base + 4 + 66, 1)).to.equal(hex(701));
  },
  async 'acknowledged-no-effect'(bed) {
    await bed.sun(1000);
    const before = bed.powerW;
    const client = await bed.connect();
    expect(exceptionOf(await bed.write(client, '704.WMaxLimPctEna', 1, 2000))).to.equal(null);
    expect([await bed.point(client, '704.WMaxLimPctEna'), await bed.point(client, '704.WMaxLimPct')]).to.deep.equal([
      '0001',
      hex(2000),
    ]);
    await bed.plant.step(30);
    expect(bed.powerW).to.be.closeTo(before, before * 0.02);
  },
  async 'enable-edge-needed'(bed) {
    await bed.sun(1000);
    const client = await bed.connect();
    await bed.write(client, '704.WMaxLimPctEna', 1, 6000);
    await bed.plant.step(30);
    const limited = bed.powerW;
    await bed.write(client, '704.WMaxLimPct', 2000);
    await bed.plant.step(30);
    expect(bed.powerW).to.be.closeTo(limited, 10);
    await bed.write(client, '704.WMaxLimPctEna', 0);
    await bed.plant.step(2);
    await bed.write(client, '704.WMaxLimPctEna', 1);
    await bed.plant.step(30);
    expect(bed.powerW).to.be.closeTo(2000, 50);
  },
  async 'write-locked'(bed) {
    const client = await bed.connect();
    expect(exceptionOf(await bed.write(client, '704.WMaxLimPctEna', 1))).to.equal(2);
    expect(exceptionOf(await bed.write(client, '704.WMaxLimPctEna', 1, 5000))).to.equal(2);
    expect(bed.bank.map.m704.WMaxLimPctEna).to.equal('DISABLED');
  },
  async 'lenient-writes'(bed) {
    const messages = '/api/sim/modbus/messages';
    await ask(bed.running.port, messages, { body: { enabled: true } });
    const client = await bed.connect();
    expect(exceptionOf(await bed.write(client, '704.WMaxLimPctEna', 1, 5000, 10_000, 1, 120))).to.equal(null);
    const { WMaxLimPctEna, WMaxLimPct, WMaxLimPctRvrtTms } = bed.bank.map.m704;
    expect([WMaxLimPctEna, WMaxLimPct, WMaxLimPctRvrtTms]).to.deep.equal(['ENABLED', 50, 0]);
    const told = (await ask(bed.running.port, messages)).json.messages;
    expect(told.map(({ ignored }: Json) => ignored)).to.deep.equal([['704.WMaxLimPctRvrtTms'], null]);
  },
  async 'silent-reversion'(bed) {
    await bed.sun(1000);
    const client = await bed.connect();
    await bed.write(client, '704.WMaxLimPctEna', 1, 2000);
    await bed.plant.step(20);
    expect(bed.powerW).to.be.closeTo(2000, 50);
    await bed.plant.step(40);
    expect(await bed.point(client, '704.WMaxLimPctEna')).to.equal('0000');
    expect(bed.powerW).to.be.above(8000);
  },
  async 'frozen-block'(bed) {
    const client = await bed.connect();
    const before = await bed.point(client, '701.W');
    await bed.sun(0);
    expect(await bed.point(client, '701.W')).to.equal(before);
    expect(bed.truth('701.W')).not.to.equal(before);
    await bed.write(client, '704.WMaxLimPct', 4200);
    expect(await bed.point(client, '704.WMaxLimPct')).to.equal(hex(4200));
  },
  async 'energy-dips'(bed) {
    await bed.sun(1000);
    const client = await bed.connect();
    const seen: string[] = [];
    for (let poll = 0; poll < 20; poll += 1) seen.push(await bed.point(client, '701.TotWhInj'));
    expect(seen.flatMap((value, at) => (/^0+$/.test(value) ? [at] : []))).to.deep.equal([9, 19]);
    expect(new Set(seen)).to.have.property('size', 2);
  },
  async spikes(bed) {
    const client = await bed.connect();
    const seen: string[] = [];
    for (let poll = 0; poll < 200; poll += 1) seen.push(await bed.point(client, '701.W'));
    const spikes = seen.filter((value) => value === '7fff');
    expect(spikes.length).to.be.within(2, 30);
    expect(seen.filter((value) => value === bed.truth('701.W'))).to.have.length(200 - spikes.length);
  },
  async 'adoption-that-lies'(bed) {
    const client = await bed.connect();
    const inForce = await bed.point(client, '705.Crv[0].Pt[0].V');
    const { address } = bed.slot('705.Crv[1].Pt[0].V');
    await bed.write(client, '705.Crv[1].ActPt', 2);
    await bed.ask(client, `10${hex(address)}000408${hex(9000)}${hex(3000)}${hex(11000)}${hex(-3000)}`);
    expect(exceptionOf(await bed.write(client, '705.AdptCrvReq', 2))).to.equal(null);
    await bed.plant.step(2);
    expect(await bed.point(client, '705.AdptCrvRslt')).to.equal('0001');
    expect(await bed.point(client, '705.Crv[0].Pt[0].V')).to.equal(inForce);
  },
  async 'reboot-that-forgets'(bed) {
    // it is off since the start
    expect(await bed.refusal()).to.equal('ECONNREFUSED');
    await bed.plant.step(60);
    await until(() => bed.isAccepting);
    const later = await bed.connect();
    expect(await bed.read(later, base, 2)).to.equal(marker);
    expect(
      bed.running.app.faults.ended[0]?.fault.facts.kind.kind ?? bed.running.app.faults.active[0]?.facts.kind.kind,
    ).to.equal('reboot');
  },
};

describe('bundled sets of faults on the wire', () => {
  let bed: Bed;
  const start = async (name: string, options: RunningOptions = {}) => {
    bed = new Bed(await startApp(['PV-3Phase'], ['--faults', name], options));
  };
  afterEach(() => bed.close());

  for (const [name, check] of Object.entries(shown)) {
    it(name, async () => {
      await start(name);
      await check(bed);
    });
  }

  it('deaf-after-connect', async () => {
    const wall = new HandWall();
    await start('deaf-after-connect', { wall });
    const client = await bed.connect();
    client.send(readRequest(1, base, 2));
    while (bed.running.app.adapters[0]?.status().lastActivityMs === null) await new Promise(setImmediate);
    wall.advance(1000);
    client.send(readRequest(2, base, 2));
    expect((await client.answer()).readUInt16BE(0)).to.equal(2);
    expect(bed.running.app.adapters[0]?.status().rxCount).to.equal(1);
  });

  it('every bundled set has a test', async () => {
    await start('base-0');
    expect([...Object.keys(shown), 'deaf-after-connect']).to.have.members([...bundledFaultProfileNames]);
  });
});
