/** Maps that are not where they should be, by a register or two. */
import { expect } from 'chai';
import type { SunSpecClientAdapter } from '../../../src/sunspec/client/client.ts';
import { connected, failureOf, pointsOf } from '../../support/client.ts';
import type { TargetOptions } from '../../support/client.ts';
import { oldInverter, patched, widened } from '../../support/foreign-map.ts';
import type { ForeignMap } from '../../support/foreign-map.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import type { Rule } from '../../support/scripted-peer.ts';

const addressOf = ({ layout }: ForeignMap, id: number) => layout.models.find(({ def }) => def.id === id)!.address;
const endOf = ({ layout }: ForeignMap) => layout.base + layout.size - 2;

/** Takes registers away before a model. */
function narrowed({ layout, image }: ForeignMap, before: number, count: number): ForeignMap {
  const at = (before - layout.base) * 2;
  return { layout, image: Buffer.concat([image.subarray(0, at - count * 2), image.subarray(at)]) };
}

/** A model without a definition, before the end. */
function withVendor(map: ForeignMap, registers: readonly number[]): ForeignMap {
  const at = (endOf(map) - map.layout.base) * 2;
  const vendor = Buffer.alloc(registers.length * 2);
  registers.forEach((register, i) => vendor.writeUInt16BE(register, i * 2));
  return { layout: map.layout, image: Buffer.concat([map.image.subarray(0, at), vendor, map.image.subarray(at)]) };
}

let peer: ScriptedPeer;
let client: SunSpecClientAdapter;
const map = oldInverter();

async function open({ image }: ForeignMap, first = 40_000, options: TargetOptions = {}, rule?: Rule): Promise<void> {
  peer = await ScriptedPeer.open(Buffer.from(image), first, rule);
  ({ client } = await connected(peer.port, options));
}
const close = async () => {
  await client.stop();
  await peer.close();
};
const ids = () => client.view().discovery!.models.map(({ id }) => id);
const notes = () => client.view().discovery!.notes;

describe('a chain that has slipped (Device Information Model Specification)', () => {
  afterEach(close);
  const whole = [1, 103, 120, 123, 160];

  for (const [by, where] of [
    [1, '1 register after'],
    [2, '2 registers after'],
  ] as const) {
    it(`by ${by} from a model on: the model is found, and the break is named`, async () => {
      const at = addressOf(map, 120);
      await open(widened(map, at, by, 0x8000));
      expect(ids()).to.deep.equal(whole);
      expect(notes()).to.deep.equal([`model 120 is at ${at + by}, ${where} the place to which the chain leads, ${at}`]);
      expect(pointsOf(await client.readModel(123, 0, true)).get('WMaxLimPct')!.value).to.equal(100);
      expect((await client.writePoints(123, 0, { WMaxLimPct: 40 })).match).to.equal(true);
    });
  }

  it('over the last registers of the model before it', async () => {
    const at = addressOf(map, 120);
    await open(narrowed(map, at, 1));
    expect(ids()).to.deep.equal(whole);
    expect(notes()).to.deep.equal([
      `model 120 is at ${at - 1}, 1 register before the place to which the chain leads, ${at}`,
    ]);
  });

  it('from the first model on: the marker was miscounted', async () => {
    await open(widened(map, 40_002, 1));
    expect(ids()).to.deep.equal(whole);
    expect(notes()).to.deep.equal(['model 1 is at 40003, 1 register after the place to which the chain leads, 40002']);
  });

  it('twice, with registers that look like an end', async () => {
    const [first, second] = [addressOf(map, 120), addressOf(map, 160)];
    await open(widened(widened(map, second, 1, 0xffff), first, 1, 0xffff));
    expect(ids()).to.deep.equal(whole);
    expect(notes()).to.have.length(2);
  });

  it('by more than that: where it broke is said', async () => {
    const at = addressOf(map, 120);
    await open(widened(map, at, 9, 0x0101));
    expect(ids().slice(0, 2)).to.deep.equal([1, 103]);
    expect(notes().at(-1)).to.match(
      /^the chain may be broken after model 103 at \d+ with 50 registers: the models up to 257 at \d+ have no definition here$/,
    );
    const again = await client.scan();
    expect(again.end).to.be.oneOf(['zeros', 'exception', 'limit']);
  });

  it('is told from models that have no definition, which cost no further request', async () => {
    await open(withVendor(map, [64_001, 2, 103, 50, 64_002, 0, 64_003, 1, 7]));
    expect(ids()).to.deep.equal([...whole, 64_001, 64_002, 64_003]);
    expect(notes()).to.deep.equal([]);
    const headers = new Set(peer.requests.map(({ address }) => address));
    expect(peer.requests.filter(({ count }) => count === 2)).to.have.length(headers.size);
  });

  it('is not made of a model that is not complete', async () => {
    const vendor = [64_001, 103, 49, 0, 0];
    await open(withVendor(map, vendor));
    expect(ids()).to.deep.equal([...whole, 64_001]);
    expect(client.view().discovery!.end).to.equal('exception');
  });

  it('is looked for without harm where the device answers with fewer registers than were asked for', async () => {
    const zeros = patched(map, endOf(map), 0, 0);
    await open(zeros, 40_000, {}, (request) => {
      const beyond = request.address + request.count - endOf(map) - 2;
      return beyond > 0
        ? { octets: peer.answerTo({ ...request, count: Math.max(0, request.count - beyond) }) }
        : undefined;
    });
    expect(ids()).to.deep.equal(whole);
    expect(client.view().discovery!.end).to.equal('zeros');
  });

  it('is looked for no further where the device does not answer', async () => {
    await open(patched(map, endOf(map), 0, 0), 40_000, { timeoutMs: 100 }, ({ address, count }) =>
      address + count > endOf(map) + 2 ? 'silence' : undefined,
    );
    expect(ids()).to.deep.equal(whole);
    expect(client.view().discovery!.end).to.equal('zeros');
    expect(
      peer.requests.filter(({ address }) => address > endOf(map)),
      'a read and its repetition',
    ).to.have.length(2);
    expect((await client.writePoints(123, 0, { WMaxLimPct: 40 })).match).to.equal(true);
  });

  it('says that the end model has a length', async () => {
    await open(patched(map, endOf(map) + 1, 5));
    expect(client.view().discovery).to.deep.include({
      end: 'end_model',
      notes: [`L of the end model at ${endOf(map)} is 5, not 0`],
    });
  });
});

describe('a marker at another address', () => {
  afterEach(async () => {
    await peer.close();
  });

  for (const [first, options] of [
    [40_001, {}],
    [39_999, {}],
    [50_001, {}],
    [49_999, {}],
    [1, {}],
    [1235, { baseAddress: 1234 }],
    [50_000, { baseAddress: 40_000 }],
    [0, { baseAddress: 65_533 }],
  ] satisfies readonly (readonly [number, TargetOptions])[]) {
    it(`${first} in place of ${'baseAddress' in options ? options.baseAddress : 'the usual ones'}: it is named`, async () => {
      peer = await ScriptedPeer.open(map.image, first);
      const failure = await failureOf(connected(peer.port, options));
      expect(failure.code).to.equal('PEER_ERROR');
      expect(failure.message).to.match(new RegExp(`; the marker is at ${first}: connect with base_address ${first}$`));
      ({ client } = await connected(peer.port, { baseAddress: first }));
      expect(client.view().discovery).to.include({ baseAddress: first, end: 'end_model' });
      await client.stop();
    });
  }

  it('is not named where no map can follow it', async () => {
    peer = await ScriptedPeer.open(map.image.subarray(0, 4), 65_534);
    expect((await failureOf(connected(peer.port, { baseAddress: 65_533 }))).message).to.match(
      /; 65533 has exception 2 \(illegal data address\)$/,
    );
  });

  it('is a guess, whose failure hides nothing', async () => {
    peer = await ScriptedPeer.open(Buffer.alloc(8), 40_000, ({ address }) =>
      address === 40_001 ? 'silence' : undefined,
    );
    const failure = await failureOf(connected(peer.port, { timeoutMs: 100 }));
    expect(failure.message).to.match(
      /; 40000 has 0x0000 0x0000, 50000 has exception 2 \(illegal data address\), 0 has exception 2 \(illegal data address\)$/,
    );
  });
});
