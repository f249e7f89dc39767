/** Devices that change, or go, while they are read or written. */
import { expect } from 'chai';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { m1 } from '../../../src/sunspec/models/m001.ts';
import { m704 } from '../../../src/sunspec/models/m704.ts';
import { m714 } from '../../../src/sunspec/models/m714.ts';
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

const addressOf = ({ layout }: ForeignMap, id: number, path: string) => layout.slot(id, path)!.address;
const set = ({ layout }: ForeignMap, address: number, register: number) =>
  peer.image.writeInt16BE(register, (address - layout.base) * 2);
const writes = () =>
  peer.requests
    .filter(({ functionCode }) => functionCode !== 3)
    .map(({ functionCode, address, registers }) => ({ functionCode, address, registers }));

describe('scale factors that change while a model is read', () => {
  const ports = 8;
  const map = imageOf(
    [
      { def: m1 },
      { def: m714, counts: { NPrt: ports }, scale: { DCA_SF: -2, DCV_SF: -1, DCW_SF: 0, DCWH_SF: 0, Tmp_SF: 0 } },
    ],
    Object.fromEntries(Array.from({ length: ports }, (_, i) => [`714.Prt[${i}].DCW`, 1000])),
  );
  const sf = addressOf(map, 714, 'DCW_SF');
  const last = addressOf(map, 714, `Prt[${ports - 1}].DCW`);
  afterEach(close);

  /** The powers of all ports go up by a step of the register, as often as the last one is read. */
  async function switching(times: number): Promise<void> {
    await open(map);
    let left = times;
    let factor = 0;
    peer.rule = ({ address, count }) => {
      if (left === 0 || address <= sf || address + count <= last) return undefined;
      left -= 1;
      factor = -1 - factor;
      set(map, sf, factor);
      for (let i = 0; i < ports; i += 1) set(map, addressOf(map, 714, `Prt[${i}].DCW`), factor === 0 ? 1000 : 10_000);
      return undefined;
    };
  }

  it('are read again with it, so that values of one answer are not scaled by another', async () => {
    await switching(1);
    const points = pointsOf(await client.readModel(714, 0, true));
    expect(Array.from({ length: ports }, (_, i) => points.get(`Prt[${i}].DCW`)?.value)).to.deep.equal(
      Array.from({ length: ports }, () => 1000),
    );
  });

  it('fail the read when they never rest', async () => {
    await switching(Infinity);
    const failure = await failureOf(client.readModel(714, 0, true));
    expect([failure.code, failure.message]).to.deep.equal([
      'PEER_ERROR',
      'the scale factors of model 714 change while it is read',
    ]);
  });

  it('keep no other model from being polled', async () => {
    await switching(Infinity);
    client.poll({ enabled: true, intervalMs: 60_000, models: [714, 1] });
    while (client.view().poll.lastMs === null)
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    const { polled, failedRounds, retryInMs } = client.view().poll;
    expect(polled.map(({ id, error }) => [id, error])).to.deep.equal([
      [714, 'the scale factors of model 714 change while it is read'],
      [1, null],
    ]);
    expect([failedRounds, retryInMs, client.view().state]).to.deep.equal([1, null, 'connected']);
  });

  it('and while it is written: what was written has no longer the value that was meant', async () => {
    const older = oldInverter();
    await open(older, ({ functionCode }) => {
      if (functionCode !== 3) set(older, addressOf(older, 123, 'WMaxLimPct_SF'), -1);
      return undefined;
    });
    const outcome = await client.writePoints(123, 0, { WMaxLimPct: 60 });
    expect(outcome.match).to.equal(false);
    expect(outcome.points[0]).to.deep.include({ written: 60, rawWritten: [60], match: false });
    expect(outcome.points[0]!.readBack).to.include({ value: 6, scaleFactor: -1 });
  });
});

describe('writes of which a part was carried out', () => {
  const map = oldInverter();
  const values = {
    WMaxLimPct: 60,
    WMaxLimPct_WinTms: 0,
    WMaxLim_Ena: 'ENABLED',
    WMaxLimPct_RvrtTms: 30,
    WMaxLimPct_RmpTms: 2,
  };
  afterEach(close);

  it('by function 6, one register after the other: what was written is said', async () => {
    const third = addressOf(map, 123, 'WMaxLimPct_RvrtTms');
    await open(map, ({ functionCode, address }) =>
      functionCode === 16 ? { exception: 1 } : functionCode === 6 && address === third ? { exception: 3 } : undefined,
    );
    const failure = await failureOf(client.writePoints(123, 0, values));
    expect(failure.message).to.equal(
      'exception 3 (illegal data value) for WMaxLimPct_RvrtTms, WMaxLimPct_RmpTms, WMaxLim_Ena; written ' +
        'before: WMaxLimPct, WMaxLimPct_WinTms',
    );
  });

  it('by function 6: enables last there too, wherever their registers are', async () => {
    const newer = imageOf(
      [
        { def: m1 },
        { def: m704, scale: { PF_SF: -3, WMaxLimPct_SF: 0, WSet_SF: 0, WSetPct_SF: 0, VarSet_SF: 0, VarSetPct_SF: 0 } },
      ],
      {},
    );
    await open(newer, ({ functionCode }) => (functionCode === 16 ? { exception: 1 } : undefined));
    expect((await client.writePoints(704, 0, { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 40 })).match).to.equal(true);
    expect(
      writes()
        .filter(({ functionCode }) => functionCode === 6)
        .map(({ address }) => address),
    ).to.deep.equal([addressOf(newer, 704, 'WMaxLimPct'), addressOf(newer, 704, 'WMaxLimPctEna')]);
  });

  for (const [what, rule] of [
    [
      'ends the connection',
      ({ socket }) => {
        socket.destroy();
        return 'silence';
      },
    ],
    [
      'answers nonsense',
      ({ transactionId }) => ({ octets: Buffer.from([transactionId >> 8, transactionId & 0xff, 0, 0, 0, 3, 1, 6, 0]) }),
    ],
  ] satisfies readonly (readonly [string, Rule])[]) {
    it(`to a device that ${what}: nobody knows, and it is not repeated`, async () => {
      await open(map, (request) => (request.functionCode === 3 ? undefined : rule(request)));
      const failure = await failureOf(client.writePoints(123, 0, { WMaxLimPct: 60 }));
      expect(failure.code).to.equal('PEER_ERROR');
      expect(failure.message).to.match(
        /for WMaxLimPct; whether this was carried out is not known; nothing was written before$/,
      );
      expect((await failureOf(client.writeRegisters(addressOf(map, 123, 'WMaxLimPct'), [60]))).message).to.match(
        /; whether this was carried out is not known$/,
      );
      expect(writes()).to.have.length(2);
    });
  }

  it('to a device that cannot be read afterwards: that it was written is said', async () => {
    let written = false;
    await open(map, ({ functionCode }) => {
      if (functionCode === 3) return written ? 'silence' : undefined;
      written = true;
      return undefined;
    });
    const failure = await failureOf(client.writePoints(123, 0, { WMaxLimPct: 60 }));
    expect(failure.message).to.match(/^no answer .*; WMaxLimPct was written and could not be read back$/);
    written = false;
    const raw = await failureOf(client.writeRegisters(addressOf(map, 123, 'WMaxLimPct'), [61]));
    expect(raw.message).to.match(/^no answer .*; the registers were written and could not be read back$/);
  });

  it('to a device whose map moves after the write: it is not repeated', async () => {
    const header = map.layout.models.find(({ def }) => def.id === 123)!.address;
    await open(map, ({ functionCode }) => {
      if (functionCode !== 3) set(map, header + 1, 25);
      return undefined;
    });
    const failure = await failureOf(client.writePoints(123, 0, { WMaxLimPct: 60 }));
    expect(failure).to.include({
      code: 'PEER_ERROR',
      message:
        `at ${header} there was model 123 of 24 registers, now there is 123 of 25; WMaxLimPct was written ` +
        'and could not be read back',
    });
    expect(writes()).to.have.length(1);
  });
});

describe('what was read last of a model', () => {
  const map = oldInverter();
  beforeEach(() => open(map));
  afterEach(close);
  const limit = async () => pointsOf(await client.readModel(123, 0, false)).get('WMaxLimPct')?.value;

  it('is what was read back when points are written', async () => {
    expect(await limit()).to.equal(100);
    await client.writePoints(123, 0, { WMaxLimPct: 60 });
    const before = peer.requests.length;
    expect(await limit()).to.equal(60);
    expect(peer.requests).to.have.length(before);
  });

  it('is forgotten when its registers are written', async () => {
    expect(await limit()).to.equal(100);
    await client.writeRegisters(addressOf(map, 123, 'WMaxLimPct'), [70]);
    expect(await limit()).to.equal(70);
  });
});
