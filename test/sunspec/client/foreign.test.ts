import { expect } from 'chai';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { m1 } from '../../../src/sunspec/models/m001.ts';
import { m701 } from '../../../src/sunspec/models/m701.ts';
import { m705 } from '../../../src/sunspec/models/m705.ts';
import { m714 } from '../../../src/sunspec/models/m714.ts';
import { connected, connectedTo, failureOf, pointsOf } from '../../support/client.ts';
import { imageOf, oldInverter, patched, widened } from '../../support/foreign-map.ts';
import type { ForeignMap } from '../../support/foreign-map.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import type { Rule } from '../../support/scripted-peer.ts';

let peer: ScriptedPeer;
let client: SunSpecClientAdapter;

async function open(map: ForeignMap, rule?: Rule): Promise<void> {
  ({ peer, client } = await connectedTo(map, rule));
}

const close = async () => {
  await client.stop();
  await peer.close();
};

const addressOf = ({ layout }: ForeignMap, id: number) => layout.models.find(({ def }) => def.id === id)!.address;
const endOf = ({ layout }: ForeignMap) => layout.base + layout.size - 2;
const valueOf = async (id: number, path: string): Promise<unknown> =>
  pointsOf(await client.readModel(id, 0, true)).get(path)?.value;
const ids = () => client.view().discovery!.models.map(({ id }) => id);

describe('discovery of foreign devices (Device Information Model Specification)', () => {
  afterEach(close);

  for (const base of [40_000, 50_000, 0]) {
    it(`finds the marker at ${base}`, async () => {
      await open(oldInverter(base));
      expect(client.view().discovery).to.include({ baseAddress: base, end: 'end_model' });
      expect(ids()).to.deep.equal([1, 103, 120, 123, 160]);
    });
  }

  it('says what is at the base addresses when there is no marker', async () => {
    await open(oldInverter());
    peer.image.writeUInt16BE(0x1234, 0);
    const failure = await failureOf(client.scan());
    expect(failure.message).to.equal(
      `unit 1 of tcp://127.0.0.1:${peer.port} has no SunSpec map: the marker SunS (0x5375 0x6e53) is at none of the base ` +
        'addresses; 40000 has 0x1234 0x6e53, 50000 has exception 2 (illegal data address), 0 has exception 2 (illegal data address)',
    );
  });

  it('takes a base address that is none of the usual ones', async () => {
    const { image } = oldInverter();
    peer = await ScriptedPeer.open(image, 41_234);
    ({ client } = await connected(peer.port, { baseAddress: 41_234 }));
    expect(client.view().discovery!.models[0]).to.include({ id: 1, address: 41_236 });
  });

  it('names a unit id that a gateway does not know', async () => {
    await open(oldInverter());
    peer.rule = () => ({ exception: 11 });
    expect((await failureOf(client.scan())).message).to.equal(
      `tcp://127.0.0.1:${peer.port} answers for unit 1 with exception 11 (gateway target device failed to respond): there is no device with that unit id`,
    );
  });

  it('accepts an end model without its length', async () => {
    const map = oldInverter();
    await open({ layout: map.layout, image: map.image.subarray(0, -2) });
    expect(client.view().discovery).to.deep.include({ end: 'missing_length', notes: [] });
    expect(ids()).to.have.length(5);
  });

  it('accepts a chain that ends with model 0, or with an exception, and says so', async () => {
    const map = oldInverter();
    await open(patched(map, endOf(map), 0, 0));
    expect(client.view().discovery!.end).to.equal('zeros');
    await close();
    await open({ layout: map.layout, image: map.image.subarray(0, -4) });
    expect(client.view().discovery).to.deep.include({
      end: 'exception',
      notes: [
        `exception 2 (illegal data address) at ${endOf(map)}, where the next model or the end should be; ` +
          `before it is model 160 at ${addressOf(map, 160)} with 48 registers`,
      ],
    });
    expect(ids()).to.have.length(5);
  });

  it('accepts model 1 with 65 registers as what old devices have', async () => {
    const map = oldInverter();
    const shorter = Buffer.concat([map.image.subarray(0, (2 + 67) * 2), map.image.subarray((2 + 68) * 2)]);
    shorter.writeUInt16BE(65, 6);
    await open({ layout: map.layout, image: shorter });
    expect(ids()).to.deep.equal([1, 103, 120, 123, 160]);
    const common = await client.readModel(1, 0, true);
    expect([common.expectedLength, common.notes]).to.deep.equal([null, []]);
    expect(pointsOf(common).has('Pad')).to.equal(false);
  });

  it('passes over models that it does not know, and shows their registers', async () => {
    const map = oldInverter();
    const vendor = Buffer.from([0xfb, 0x01, 0, 3, 0, 1, 0, 2, 0, 3]);
    const at = (endOf(map) - map.layout.base) * 2;
    await open({
      layout: map.layout,
      image: Buffer.concat([map.image.subarray(0, at), vendor, map.image.subarray(at)]),
    });
    expect(client.view().discovery!.models.at(-1)).to.deep.include({ id: 64_257, name: null, length: 3 });
    const reading = await client.readModel(64_257, 0, true);
    expect(reading.registers).to.deep.equal([64_257, 3, 1, 2, 3]);
    expect((await failureOf(client.writePoints(64_257, 0, { X: 1 }))).code).to.equal('UNKNOWN_RESOURCE');
  });

  it('does not follow a chain out of the address space', async () => {
    const map = oldInverter();
    await open(patched(map, endOf(map), 64_000, 0xfff0));
    expect(client.view().discovery!.end).to.equal('limit');
    expect(client.view().discovery!.notes[0]).to.match(
      /says that it has 65520 registers, \d+ are left; before it is model 160 at \d+ with 48 registers$/,
    );
  });

  it('ends a chain of models without end', async () => {
    const image = Buffer.alloc(4000);
    image.write('SunS', 'latin1');
    for (let at = 4; at < image.length; at += 4) image.writeUInt16BE(9, at);
    peer = await ScriptedPeer.open(image, 40_000);
    ({ client } = await connected(peer.port));
    expect(client.view().discovery!.models).to.have.length(256);
    expect(client.view().discovery!.end).to.equal('limit');
  });

  it('knows that the device was there before, when the map has moved, and finds it anew', async () => {
    const map = oldInverter();
    await open(map);
    expect(await valueOf(103, 'W')).to.equal(4950);
    const moved = widened(map, addressOf(map, 103), 5);
    moved.image.writeUInt16BE(66 + 5, 6);
    await peer.close();
    await client.stop();
    await open(map);
    peer.rule = (request) => {
      const at = (request.address - 40_000) * 2;
      const data = moved.image.subarray(at, at + request.count * 2).toString('hex');
      const head = Buffer.from([
        request.transactionId >> 8,
        request.transactionId & 255,
        0,
        0,
        0,
        3 + request.count * 2,
        1,
        3,
        request.count * 2,
      ]);
      return { octets: Buffer.concat([head, Buffer.from(data, 'hex')]) };
    };
    expect(await valueOf(103, 'W')).to.equal(4950);
    expect(client.view().discovery!.models[1]).to.include({ id: 103, address: addressOf(map, 103) + 5 });
  });
});

describe('models of foreign devices', () => {
  afterEach(close);

  it('decodes models from before the 700 series, and the inputs of 160', async () => {
    await open(oldInverter());
    const inverter = pointsOf(await client.readModel(103, 0, true));
    expect(
      Object.fromEntries(
        ['A', 'PPVphAB', 'W', 'VAr', 'Hz', 'PF', 'WH', 'St'].map((name) => [name, inverter.get(name)!.value]),
      ),
    ).to.deep.equal({ A: 21.5, PPVphAB: 400.2, W: 4950, VAr: -310, Hz: 50.01, PF: 99.8, WH: 1_234_567, St: 4 });
    expect(inverter.get('St')!.symbol).to.equal('MPPT');
    const ratings = pointsOf(await client.readModel(120, 0, true));
    expect(ratings.get('VArRtgQ1')).to.include({ value: null, implemented: false });
    const { groups, notes } = await client.readModel(160, 0, true);
    expect(groups.map(({ path }) => path)).to.deep.equal(['module[0]', 'module[1]']);
    expect(notes).to.deep.equal([]);
    expect([await valueOf(160, 'module[0].IDStr'), await valueOf(160, 'module[1].DCW')]).to.deep.equal(['East', 2500]);
  });

  it('reads scale factors anew each time: some devices change them', async () => {
    const map = oldInverter();
    await open(map);
    const { address } = map.layout.slot(103, 'W_SF')!;
    for (const [sf, value] of [
      [1, 49_500],
      [-1, 495],
      [0, 4950],
    ] as const) {
      peer.image.writeInt16BE(sf, (address - map.layout.base) * 2);
      expect(await valueOf(103, 'W')).to.equal(value);
    }
    const limit = map.layout.slot(123, 'WMaxLimPct_SF')!.address;
    peer.image.writeInt16BE(-2, (limit - map.layout.base) * 2);
    expect((await client.writePoints(123, 0, { WMaxLimPct: 50 })).points[0]!.rawWritten).to.deep.equal([5000]);
  });

  for (const sf of [-11, 11, 37, -0x8000]) {
    it(`gives no value with the scale factor ${sf}`, async () => {
      const map = oldInverter();
      await open(patched(map, map.layout.slot(103, 'W_SF')!.address, sf & 0xffff));
      const points = pointsOf(await client.readModel(103, 0, true));
      expect(points.get('W')).to.deep.include({
        raw: [4950],
        value: null,
        scaleFactor: null,
        implemented: true,
        note: 'without a usable scale factor the registers have no value',
      });
      if (sf === -0x8000) expect(points.get('W_SF')).to.include({ value: null, implemented: false });
      else expect(points.get('W_SF')).to.include({ value: sf, note: 'outside of -10 to 10' });
      const limit = map.layout.slot(123, 'WMaxLimPct_SF')!.address;
      peer.image.writeInt16BE(sf, (limit - map.layout.base) * 2);
      expect((await failureOf(client.writePoints(123, 0, { WMaxLimPct: 50 }))).message).to.match(
        /gives no usable scale factor/,
      );
    });
  }

  it('shows numbers of enumerations and bits that have no name', async () => {
    const map = oldInverter();
    const at = (path: string) => map.layout.slot(103, path)!.address;
    await open(patched(patched(map, at('St'), 77), at('Evt1'), 0x0004, 0x0001));
    const points = pointsOf(await client.readModel(103, 0, true));
    expect(points.get('St')).to.deep.include({ value: 77, symbol: null, implemented: true });
    expect(points.get('Evt1')).to.deep.include({ value: 0x40001, bits: ['GROUND_FAULT', 'BIT_18'] });
    expect(points.get('Evt1')).not.to.have.property('note');
    peer.image.writeUInt32BE(0x80000000, (at('Evt1') - map.layout.base) * 2);
    expect(pointsOf(await client.readModel(103, 0, true)).get('Evt1')).to.deep.include({
      bits: ['BIT_31'],
      implemented: true,
      note: 'its highest bit is reserved',
    });
  });

  it('reads a length that is too small as far as it reaches, and goes on where the definition says', async () => {
    const map = oldInverter();
    await open(patched(map, addressOf(map, 103) + 1, 48));
    expect(ids()).to.deep.equal([1, 103, 120, 123, 160]);
    expect(client.view().discovery!.notes).to.deep.equal([
      `L of model 103 at ${addressOf(map, 103)} is 48, but the chain continues after 50 registers`,
    ]);
    const reading = await client.readModel(103, 0, true);
    expect(reading.expectedLength).to.equal(50);
    expect(reading.notes[0]).to.equal(
      'L of model 103 is 48, by definition and counts 50: points after its end are left out',
    );
    expect(pointsOf(reading).get('W')!.value).to.equal(4950);
    expect(pointsOf(reading).has('EvtVnd4')).to.equal(false);
  });

  it('reads a length that is larger because the model is', async () => {
    const map = oldInverter();
    await open(widened(patched(map, addressOf(map, 103) + 1, 53), addressOf(map, 103) + 52, 3, 7));
    expect(ids()).to.deep.equal([1, 103, 120, 123, 160]);
    const reading = await client.readModel(103, 0, true);
    expect(reading.notes).to.deep.equal([
      'L of model 103 is 53, by definition and counts 50: its last 3 registers have no meaning',
    ]);
  });

  it('does not read what lies behind the last point of a model that says it is huge', async () => {
    const map = oldInverter();
    await open(widened(patched(map, addressOf(map, 103) + 1, 20_050), addressOf(map, 103) + 52, 20_000, 7));
    expect(ids()).to.deep.equal([1, 103, 120, 123, 160]);
    const before = peer.requests.length;
    const reading = await client.readModel(103, 0, true);
    expect(peer.requests.length - before).to.equal(1);
    expect([reading.length, reading.expectedLength, pointsOf(reading).get('W')!.value]).to.deep.equal([
      20_050, 50, 4950,
    ]);
    expect(reading.notes.at(-1)).to.equal(
      'L of model 103 is 20050, by definition and counts 50: its last 20000 registers have no meaning',
    );
  });

  it('takes no more repetitions than the length has room for, whatever a count says', async () => {
    const map = imageOf(
      [
        { def: m1 },
        { def: m705, counts: { NCrv: 2, NPt: 4 }, scale: { V_SF: -2, DeptRef_SF: -2, RspTms_SF: -2 } },
        { def: m714, counts: { NPrt: 1 }, scale: { DCA_SF: -1, DCV_SF: -1, DCW_SF: 0, DCWH_SF: 0, Tmp_SF: 0 } },
      ],
      { '705.Crv[0].Pt[3].V': 108 },
    );
    await open(patched(map, map.layout.slot(705, 'NPt')!.address, 60_000, 60_000));
    const reading = await client.readModel(705, 0, true);
    expect(reading.groups).to.deep.equal([]);
    expect(reading.expectedLength).to.be.greaterThan(1e9);
    await close();
    await open(patched(map, map.layout.slot(714, 'NPrt')!.address, 3));
    const dc = await client.readModel(714, 0, true);
    expect(dc.groups.map(({ path }) => path)).to.deep.equal(['Prt[0]']);
    expect(dc.expectedLength).to.equal(18 + 3 * 25);
  });

  it('keeps numbers of 64 bits exact', async () => {
    const map = imageOf(
      [
        { def: m1 },
        {
          def: m701,
          scale: {
            A_SF: -1,
            V_SF: -1,
            Hz_SF: -3,
            W_SF: 0,
            PF_SF: -3,
            VA_SF: 0,
            Var_SF: 0,
            TotWh_SF: -2,
            TotVarh_SF: 0,
            Tmp_SF: 0,
          },
        },
      ],
      { '701.TotWhInj': 12.34 },
    );
    const { address } = map.layout.slot(701, 'TotWhAbs')!;
    await open(patched(map, address, 0xffff, 0xffff, 0xffff, 0xfffe));
    expect(await valueOf(701, 'TotWhInj')).to.equal(12.34);
    expect(await valueOf(701, 'TotWhAbs')).to.equal('184467440737095516.14');
    peer.image.writeInt16BE(3, (map.layout.slot(701, 'TotWh_SF')!.address - map.layout.base) * 2);
    peer.image.writeBigUInt64BE(9_007_199_254_740_991n, (address - map.layout.base) * 2);
    expect(await valueOf(701, 'TotWhAbs'), 'beyond 2^53 by its exponent').to.equal('9007199254740991000');
    expect(await valueOf(701, 'TotWhInj')).to.equal(1_234_000);
  });

  it('cuts text at the first NUL, and takes octets that are no text', async () => {
    const map = oldInverter();
    await open(patched(map, map.layout.slot(1, 'Md')!.address, 0x4142, 0x2020, 0x0043, 0x4444));
    expect(await valueOf(1, 'Md')).to.equal('AB');
    peer.image.fill(0xff, 4 * 2, 20 * 2);
    expect(await valueOf(1, 'Mn')).to.equal('\ufffd'.repeat(32));
  });
});
