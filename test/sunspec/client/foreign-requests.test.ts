import { expect } from 'chai';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { m1 } from '../../../src/sunspec/models/m001.ts';
import { m701 } from '../../../src/sunspec/models/m701.ts';
import { m704 } from '../../../src/sunspec/models/m704.ts';
import { connectedTo, failureOf, pointsOf } from '../../support/client.ts';
import { imageOf, oldInverter } from '../../support/foreign-map.ts';
import type { ForeignMap } from '../../support/foreign-map.ts';
import type { ScriptedPeer } from '../../support/scripted-peer.ts';
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

const scales701 = {
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
};

const scales704 = { PF_SF: -3, WMaxLimPct_SF: -1, WSet_SF: 0, WSetPct_SF: -1, VarSet_SF: 0, VarSetPct_SF: -1 };

describe('reads that a device refuses', () => {
  afterEach(close);

  it('are made in smaller pieces, which it then remembers', async () => {
    await open(oldInverter(), ({ count, functionCode }) =>
      functionCode === 3 && count > 20 ? { exception: 3 } : undefined,
    );
    expect(await valueOf(103, 'W')).to.equal(4950);
    const { exceptions } = client.view().counters;
    expect(await valueOf(103, 'W')).to.equal(4950);
    expect(client.view().counters.exceptions).to.equal(exceptions);
    expect(Math.max(...peer.requests.slice(-4).map(({ count }) => count))).to.be.within(10, 20);
  });

  it('leave out the point that cannot be read, and only that', async () => {
    const map = oldInverter();
    const { address } = map.layout.slot(103, 'WH')!;
    await open(map, (request) =>
      request.address < address + 2 && request.address + request.count > address ? { exception: 4 } : undefined,
    );
    const reading = await client.readModel(103, 0, true);
    const points = pointsOf(reading);
    expect(points.get('WH')).to.deep.include({
      raw: null,
      value: null,
      implemented: false,
      note: 'not readable: exception 4 (server device failure)',
    });
    expect(reading.notes).to.deep.equal(['2 registers cannot be read']);
    const readable = [...points.values()].filter(({ raw }) => raw !== null);
    expect(readable).to.have.length(points.size - 1);
    expect(points.get('W')!.value).to.equal(4950);
    expect(points.get('DCW')!.value).to.equal(5100);
  });

  it('never cut a point: a device may refuse half of one', async () => {
    const map = imageOf(
      [
        { def: m1 },
        {
          def: m701,
          scale: scales701,
        },
      ],
      { '701.Hz': 50 },
    );
    const starts = new Set(map.layout.slots.map((slot) => slot.address));
    await open(map, ({ address, count }) =>
      address > 40_003 && (!starts.has(address) || !(starts.has(address + count) || address + count === endOf(map)))
        ? { exception: 2 }
        : undefined,
    );
    const reading = await client.readModel(701, 0, true);
    expect(reading.notes).to.deep.equal([]);
    expect(pointsOf(reading).get('Hz')!.value).to.equal(50);
  });

  it('end after 40 refusals: points beyond are said to be not asked for, not refused', async () => {
    const map = imageOf([{ def: m1 }, { def: m701, scale: scales701 }], { '701.Hz': 50 });
    const from = map.layout.slot(701, 'A')!.address;
    await open(map);
    const last = map.layout.slot(701, 'WL3')!;
    peer.rule = ({ address, count }) => (address + count > from && address < endOf(map) ? { exception: 4 } : undefined);
    peer.requests.length = 0;
    const reading = await client.readModel(701, 0, true);
    const asked = new Set(peer.requests.map(({ address, count }) => `${address} ${count}`));
    const notes = new Map<string, number>();
    for (const { note, address, size } of reading.points) {
      if (address < from) continue;
      expect(note?.startsWith('not readable: exception 4'), `${address}`).to.equal(asked.has(`${address} ${size}`));
      notes.set(note ?? '', (notes.get(note ?? '') ?? 0) + size);
    }
    const [refused, unasked] = [
      'not readable: exception 4 (server device failure)',
      'not asked for after 40 refused reads of this model',
    ];
    expect([...notes.keys()]).to.have.members([refused, unasked]);
    expect(reading.notes).to.deep.equal([
      `${notes.get(refused)} registers cannot be read`,
      `${notes.get(unasked)} registers were ${unasked}`,
    ]);
    expect(pointsOf(reading).get(last.path)!.note).to.equal(unasked);
  });

  it('fail when nothing of the model can be read', async () => {
    const map = oldInverter();
    await open(map);
    peer.rule = ({ address }) => (address >= addressOf(map, 160) ? { exception: 2 } : undefined);
    const failure = await failureOf(client.readModel(160, 0, true));
    expect(failure).to.include({ code: 'PEER_ERROR', protocolCode: 2 });
  });
});

describe('writes to devices of all sorts', () => {
  afterEach(close);

  it('of a point whose scale factor was not asked for any more send nothing', async () => {
    const map = imageOf([{ def: m1 }, { def: m704, scale: scales704 }], {});
    const from = map.layout.slot(704, 'PFWInjEna')!.address;
    await open(map);
    peer.rule = ({ address, count, functionCode }) =>
      functionCode === 3 && address + count > from && address < endOf(map) ? { exception: 4 } : undefined;
    peer.requests.length = 0;
    const failure = await failureOf(client.writePoints(704, 0, { WMaxLimPct: 60 }));
    expect(failure).to.include({
      code: 'PEER_ERROR',
      message:
        'the scale factor of WMaxLimPct was not asked for after 40 refused reads of this model; nothing was written',
    });
    expect(peer.requests.filter(({ functionCode }) => functionCode !== 3)).to.deep.equal([]);
  });
  const write = () => client.writePoints(123, 0, { WMaxLimPct: 60 });
  const functions = () =>
    peer.requests
      .filter(({ functionCode }) => functionCode !== 3)
      .map(({ functionCode, count }) => `${functionCode}/${count}`);

  it('that know function 16 only', async () => {
    await open(oldInverter(), ({ functionCode }) => (functionCode === 6 ? { exception: 1 } : undefined));
    expect((await write()).requests).to.have.length(1);
    expect((await write()).match).to.equal(true);
    expect(functions(), 'what it has learnt').to.deep.equal(['6/1', '16/1', '16/1']);
  });

  it('that know function 6 only', async () => {
    await open(oldInverter(), ({ functionCode }) => (functionCode === 16 ? { exception: 1 } : undefined));
    const values = {
      WMaxLimPct: 60,
      WMaxLimPct_WinTms: 0,
      WMaxLimPct_RvrtTms: 30,
      WMaxLimPct_RmpTms: 2,
      WMaxLim_Ena: 'ENABLED',
    };
    expect((await client.writePoints(123, 0, values)).match).to.equal(true);
    expect((await client.writePoints(123, 0, values)).match).to.equal(true);
    expect(functions()).to.deep.equal(['16/5', ...Array.from({ length: 10 }, () => '6/1')]);
  });

  it('that know neither', async () => {
    await open(oldInverter(), ({ functionCode }) => (functionCode === 3 ? undefined : { exception: 1 }));
    expect((await failureOf(write())).message).to.equal(
      'exception 1 (illegal function) for WMaxLimPct; nothing was written before',
    );
  });

  it('that take a write and show another value', async () => {
    const map = oldInverter();
    await open(map, (request) => {
      if (request.functionCode === 3) return undefined;
      const answer = peer.answerTo(request);
      peer.image.writeUInt16BE(59, (request.address - map.layout.base) * 2);
      return { octets: answer };
    });
    const outcome = await write();
    expect(outcome.match).to.equal(false);
    expect(outcome.points[0]).to.deep.include({ name: 'WMaxLimPct', written: 60, rawWritten: [60], match: false });
    expect(outcome.points[0]!.readBack).to.deep.include({ value: 59, raw: [59] });
  });

  it('that do not answer a write: it is not repeated, and nobody knows', async () => {
    await open(oldInverter(), ({ functionCode }) => (functionCode === 3 ? undefined : 'silence'));
    const failure = await failureOf(write());
    expect(failure.code).to.equal('PEER_TIMEOUT');
    expect(failure.message).to.match(
      /for WMaxLimPct; whether this was carried out is not known; nothing was written before$/,
    );
    expect(functions()).to.deep.equal(['6/1']);
  });

  it('that refuse the second of two requests: what the first did is said', async () => {
    const map = oldInverter();
    const { address } = map.layout.slot(123, 'WMaxLim_Ena')!;
    await open(map, (request) =>
      request.functionCode !== 3 && request.address === address ? { exception: 3 } : undefined,
    );
    const failure = await failureOf(client.writePoints(123, 0, { WMaxLim_Ena: 1, WMaxLimPct: 60 }));
    expect(failure.message).to.equal('exception 3 (illegal data value) for WMaxLim_Ena; written before: WMaxLimPct');
    expect(await valueOf(123, 'WMaxLimPct')).to.equal(60);
  });

  it('that echo something else than was written', async () => {
    await open(oldInverter(), (request) =>
      request.functionCode === 6 ? { octets: peer.answerTo({ ...request, registers: [1] }) } : undefined,
    );
    expect((await failureOf(write())).message).to.match(/the answer to the write repeats 1 at \d+, not 60/);
  });

  it('registers as they are, also where they cannot be read', async () => {
    await open(oldInverter());
    expect(await client.writeRegisters(40_010, [1, 2, 3])).to.deep.include({ match: true, readBack: [1, 2, 3] });
    peer.rule = ({ functionCode }) => (functionCode === 3 ? { exception: 2 } : undefined);
    expect(await client.writeRegisters(40_010, [9])).to.deep.include({ match: false, readBack: null });
  });
});
