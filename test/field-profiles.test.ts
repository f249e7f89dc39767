/** The profiles after devices in the field, as a master on the wire meets them. */
import { refusalAt } from './sunspec/modbus/faults/wire-rig.ts';
import { expect } from 'chai';
import { createApp } from '../src/app/build.ts';
import type { App } from '../src/app/start-stop.ts';
import { bundledProfileNames } from '../src/config/profile/bundled.ts';
import { createLogBook } from '../src/core/log/log.ts';
import { configOf } from './support/configured.ts';
import { adu, RawClient } from './support/modbus-client.ts';
import { modbusEndpoint } from './support/running-app.ts';

const current = [701, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715];

/** By name: base address, and ID and L of the models in order. */
const chains: Readonly<Record<string, { readonly base: number; readonly ids: readonly number[] }>> = {
  'Field-Float-8kW-3Phase-EU': { base: 40_000, ids: [1, 113, 120, 121, 122, 123, 160] },
  'Field-ReadOnly-10kW-3Phase-EU': { base: 40_000, ids: [1, 103] },
  'Field-Mixed-12kW-3Phase-EU': { base: 40_000, ids: [1, 123, ...current] },
  'Field-Meters-10kW-3Phase-EU': { base: 40_000, ids: [1, 103, 1, 203, 1, 203] },
  'Field-HybridDC-10kVA-3Phase-EU': { base: 40_000, ids: [1, 103, 120, 121, 122, 123, 160, 124] },
  'Field-Gateway-3kW-1Phase-EU': { base: 0, ids: [1, 101, 160] },
};
const names = Object.keys(chains);

const typeOf = (name: string) =>
  name.includes('Hybrid') ? 'HybridDC-3Phase' : name.includes('1Phase') ? 'PV-1Phase' : 'PV-3Phase';
const hasShortCommon = (name: string) => /Float|ReadOnly|Meters|Hybrid/.test(name);

const hex = (word: number) => (word & 0xffff).toString(16).padStart(4, '0');

/** A master with one request at a time. */
class Master {
  readonly client: RawClient;
  #transaction = 0;

  constructor(client: RawClient) {
    this.client = client;
  }

  /** The PDU that answers one, in hex. */
  async ask(pdu: string, unitId = 1): Promise<string> {
    this.#transaction += 1;
    this.client.send(adu(this.#transaction, unitId, pdu));
    return (await this.client.answer()).subarray(7).toString('hex');
  }

  /** Registers; null: an exception. */
  async read(address: number, count: number): Promise<Buffer | null> {
    const pdu = await this.ask(`03${hex(address)}${hex(count)}`);
    return pdu.startsWith('03') ? Buffer.from(pdu.slice(4), 'hex') : null;
  }

  async write(address: number, ...words: readonly number[]): Promise<string> {
    const octets = (words.length * 2).toString(16).padStart(2, '0');
    return this.ask(`10${hex(address)}${hex(words.length)}${octets}${words.map(hex).join('')}`);
  }

  /** ID and L of the models from the marker on, read in large blocks as far as the map goes. */
  async chain(base: number): Promise<(readonly [number, number])[]> {
    const found: (readonly [number, number])[] = [];
    let block: { from: number; registers: Buffer } = { from: 0, registers: Buffer.alloc(0) };
    const head = async (at: number): Promise<Buffer> => {
      if (at < block.from || at + 2 > block.from + block.registers.length / 2) {
        const registers = (await this.read(at, 125)) ?? (await this.read(at, 2)) ?? Buffer.alloc(0);
        block = { from: at, registers };
      }
      return block.registers.subarray((at - block.from) * 2, (at - block.from) * 2 + 4);
    };
    if ((await head(base)).toString('latin1') !== 'SunS') throw new Error(`no marker at ${base}`);
    for (let at = base + 2; ; ) {
      const pair = await head(at);
      const [id, length] = [pair.readUInt16BE(0), pair.readUInt16BE(2)];
      if (id === 0xffff) return found;
      found.push([id, length]);
      at += 2 + length;
    }
  }
}

describe('profiles after devices in the field', () => {
  let app: App;
  const masters: Master[] = [];

  before(async () => {
    const of = (name: string) => ['-d', typeOf(name), '-f', name];
    const config = configOf('-wp', '0', '-p', '0', '--start_paused', 'yes', ...of(names[0] ?? ''));
    const devices = names.flatMap((name) => configOf(...of(name)).devices);
    app = createApp({ ...config, devices }, { logBook: createLogBook({ write: () => undefined }) });
    await app.start();
    for (const index of names.keys()) masters.push(new Master(await RawClient.open(modbusEndpoint(app, index).port)));
  });
  after(async () => {
    for (const { client } of masters) client.destroy();
    await app.stop();
  });

  const sun = async (irradianceWm2: number) => {
    app.plant.setSurroundings({ irradianceWm2, cellTemperatureC: 25 });
    await app.plant.step(60);
  };
  const device = (name: string) => {
    const index = names.indexOf(name);
    const { bank } = app.plant.device(index);
    const master = masters[index];
    if (master === undefined) throw new Error(name);
    /** @param shift of everything behind a model 1 without its pad */
    const point = (model: number, path: string, shift = 0) => {
      const slot = bank.layout.slot(model, path);
      if (slot === undefined) throw new Error(`${name} has no ${model}.${path}`);
      return { address: slot.address + shift, size: slot.def.size };
    };
    const powerW = () => bank.map.m701.W ?? 0;
    return { index, bank, master, point, powerW };
  };

  it('are those of the bundled ones that begin with Field', () => {
    expect(bundledProfileNames.filter((name) => name.startsWith('Field-')).sort()).to.deep.equal([...names].sort());
  });

  it('Field-Gateway is slow, lacks VA, var and power factor, and answers at unit id 2', async () => {
    const { master, point, powerW } = device('Field-Gateway-3kW-1Phase-EU');
    await sun(800);
    const from = performance.now();
    // W to PF in one read
    const first = point(101, 'W').address;
    const block = Buffer.from((await master.ask(`03${hex(first)}000a`, 2)).slice(4), 'hex');
    expect(performance.now() - from).to.be.at.least(295);
    const at = (path: string) => block.readInt16BE((point(101, path).address - first) * 2);
    expect(at('W') * 10 ** at('W_SF')).to.be.closeTo(powerW(), 10);
    expect([at('VA'), at('VAr'), at('PF')]).to.deep.equal([-0x8000, -0x8000, -0x8000]);
    // the other tests need not wait for it
    expect(app.faults.clear({ profile: 'slow-answers' })).to.equal(1);
  });

  for (const [index, name] of names.entries()) {
    it(`${name} shows its chain, and nothing else`, async () => {
      const { base, ids } = chains[name] ?? { base: 0, ids: [] };
      const found = await (masters[index] as Master).chain(base);
      expect(found.map(([id]) => id)).to.deep.equal(ids);
      const common = found.filter(([id]) => id === 1).map(([, length]) => length);
      expect(new Set(common)).to.deep.equal(new Set([hasShortCommon(name) ? 65 : 66]));
      const end = base + 4 + found.reduce((sum, [, length]) => sum + 2 + length, 0);
      const master = masters[index] as Master;
      expect([await master.read(end - 1, 1), await master.read(end, 1)]).to.deep.equal([Buffer.alloc(2), null]);
      if (base !== 40_000) expect(await master.read(40_000, 2)).to.equal(null);
    });
  }

  it('Field-Float has floats, and 123 where its description says', async () => {
    const { master, point, powerW } = device('Field-Float-8kW-3Phase-EU');
    await sun(600);
    const power = point(113, 'W', -1);
    expect((await master.read(power.address, 2))?.readFloatBE()).to.be.closeTo(powerW(), 1);
    // register 40243 counted from 1
    expect(point(123, 'WMaxLimPct', -1).address).to.equal(40_242);
  });

  it('Field-Float follows a new limit after its enable was written off and on', async () => {
    const { master, point, powerW } = device('Field-Float-8kW-3Phase-EU');
    await sun(1000);
    const [limit, enable] = [point(123, 'WMaxLimPct', -1).address, point(123, 'WMaxLim_Ena', -1).address];
    const limited = async (pct: number) => {
      expect(await master.write(limit, pct * 100)).to.equal(`10${hex(limit)}0001`);
      await app.plant.step(30);
      return powerW();
    };
    const switched = async (value: 0 | 1) => {
      expect(await master.write(enable, value)).to.equal(`10${hex(enable)}0001`);
      await app.plant.step(30);
    };
    await limited(50);
    await switched(1);
    expect(powerW()).to.be.closeTo(4000, 40);
    expect(await limited(25)).to.be.closeTo(4000, 40);
    await switched(0);
    await switched(1);
    expect(powerW()).to.be.closeTo(2000, 40);
    await switched(0);
  });

  it('Field-Float has no DC values in the dark', async () => {
    const { master, point } = device('Field-Float-8kW-3Phase-EU');
    const dc = async () => {
      const read = [0, 1].map((i) => point(160, `module[${i}].DCW`, -1).address);
      return [await master.read(read[0] ?? 0, 1), await master.read(read[1] ?? 0, 1)].map((word) =>
        word?.readUInt16BE(),
      );
    };
    await sun(800);
    for (const value of await dc()) expect(value).to.be.within(1, 65_000);
    await sun(0);
    expect(await dc()).to.deep.equal([0xffff, 0xffff]);
  });

  it('Field-ReadOnly moves its scale factors with the power, takes one master, and has nothing to write', async () => {
    const { index, master, point, powerW } = device('Field-ReadOnly-10kW-3Phase-EU');
    const shown = async () => {
      const raw = (await master.read(point(103, 'W', -1).address, 1))?.readInt16BE() ?? NaN;
      const factor = (await master.read(point(103, 'W_SF', -1).address, 1))?.readInt16BE() ?? NaN;
      return { factor, watts: raw * 10 ** factor };
    };
    await sun(30);
    const dim = await shown();
    expect(dim.watts).to.be.closeTo(powerW(), 1);
    await sun(1000);
    const bright = await shown();
    expect(bright.watts).to.be.closeTo(powerW(), 10);
    expect(bright.factor).to.be.above(dim.factor);
    expect(await refusalAt(modbusEndpoint(app, index).port)).to.equal('reset');
    // where 120 would begin
    expect(await master.write(40_121, 1)).to.equal('9002');
  });

  it('Field-Meters has the meters at their places, positive when delivered', async () => {
    const { master } = device('Field-Meters-10kW-3Phase-EU');
    await sun(800);
    expect(await master.ask(`03${hex(40_121)}0002`)).to.equal('030400010041');
    expect(await master.ask(`03${hex(40_188)}0001`)).to.equal('030200cb');
    const watts = async (header: number) => {
      const block = (await master.read(header, 107)) ?? Buffer.alloc(0);
      // W and its scale factor in 203
      return block.readInt16BE(2 * 18) * 10 ** block.readInt16BE(2 * 22);
    };
    const { netW, generationW } = app.plant.site;
    // one count is 10 W
    expect(await watts(40_188)).to.be.closeTo(netW, 5.001);
    expect(await watts(40_362)).to.be.closeTo(generationW, 5.001);
  });

  it('Field-HybridDC has its storage where clients take it', async () => {
    const { bank, master } = device('Field-HybridDC-10kVA-3Phase-EU');
    expect(await master.ask(`03${hex(40_343)}0002`)).to.equal('0304007c0018');
    const [reserve, charge] = [await master.read(40_350, 1), await master.read(40_351, 1)];
    expect([reserve?.readUInt16BE(), charge?.readUInt16BE()]).to.deep.equal([
      Math.round(10 * (bank.map.m124?.MinRsvPct ?? NaN)),
      Math.round(10 * (bank.map.m124?.ChaState ?? NaN)),
    ]);
    expect(await master.write(40_348, 2)).to.equal('109d9c0001');
    expect(await master.write(40_355, 0)).to.equal('109da30001');
    expect([bank.map.m124?.StorCtl_Mod, bank.map.m124?.OutWRte]).to.deep.equal([2, 0]);
    expect(await master.write(40_232, 10_000)).to.equal('109d280001');
  });

  it('Field-Mixed answers at unit id 126, and has no 701 to read in the dark', async () => {
    const { master, point } = device('Field-Mixed-12kW-3Phase-EU');
    const power = point(701, 'W').address;
    await sun(800);
    expect(await master.ask(`03${hex(40_000)}0002`, 126)).to.equal('030453756e53');
    expect((await master.read(power, 1))?.readInt16BE()).to.be.above(0);
    expect((await master.read(point(714, 'L').address, 1))?.readUInt16BE()).to.equal(93);
    await sun(0);
    expect(await master.ask(`03${hex(power)}0001`)).to.equal('8304');
    expect(await master.read(point(123, 'WMaxLimPct').address, 1)).to.not.equal(null);
    await sun(800);
    expect(await master.read(power, 1)).to.not.equal(null);
  });
});
