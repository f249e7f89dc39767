import { expect } from 'chai';
import type { FaultKind } from '../../../../src/core/faults/kinds.ts';
import {
  badCrcFault,
  delayFault,
  disconnectFault,
  dropFault,
  duplicateFault,
  echoFault,
  exceptionFault,
  garbageFault,
  splitFault,
  strayOctetsFault,
  truncateFault,
  wrongByteCountFault,
  wrongFunctionFault,
  wrongTransactionFault,
  wrongUnitFault,
} from '../../../../src/fault-kinds/modbus-transport.ts';
import { adu, readRequest } from '../../../support/modbus-client.ts';
import type { RawClient } from '../../../support/modbus-client.ts';
import { rtuFrame, until, WireRig } from './wire-rig.ts';

/** A read of register 100, unit 1, transaction 7. */
const request = readRequest(7, 100, 1);
const answer = '0007000000050103020064';
const rtuRequest = rtuFrame('010300640001');
const rtuAnswer = rtuFrame('0103020064');

describe('faults of answers on the wire', () => {
  let rig: WireRig;
  let client: RawClient;
  beforeEach(async () => {
    rig = await new WireRig().start();
    client = await rig.open();
  });
  afterEach(() => rig.stop());

  /** Sends a request and takes what comes, of this size. */
  async function exchange(size: number, bytes = request, from = client): Promise<string> {
    from.send(bytes);
    await rig.release();
    return (await from.take(size)).toString('hex');
  }

  describe('changed answers, MBAP', () => {
    const rows: readonly (readonly [FaultKind, object, string])[] = [
      [wrongUnitFault, {}, '0007000000050203020064'],
      [wrongUnitFault, { unit_id: 0 }, '0007000000050003020064'],
      [wrongTransactionFault, { mode: 'zero' }, '0000000000050103020064'],
      [wrongTransactionFault, { mode: 'other' }, '0008000000050103020064'],
      [wrongFunctionFault, {}, '0007000000050104020064'],
      [wrongByteCountFault, {}, '0007000000050103040064'],
      [truncateFault, { octets: 9 }, '000700000005010302'],
      [truncateFault, { octets: 3 }, '000700'],
      [duplicateFault, {}, answer + answer],
      [strayOctetsFault, {}, `00${answer}`],
      [strayOctetsFault, { place: 'instead', octets: [1, 2] }, '0102'],
    ];
    for (const [kind, parameters, expected] of rows) {
      it(`${kind.kind} ${JSON.stringify(parameters)}`, async () => {
        const fault = rig.inject(kind, { ...parameters });
        expect(await exchange(expected.length / 2)).to.equal(expected);
        expect(fault.strikeCount).to.equal(1);
        rig.clear();
        expect(await rig.works(client)).to.equal(true);
      });
    }

    it('garbage: as many random octets, the same for the same seed', async () => {
      rig.inject(garbageFault, { octets: 20 }, { seed: 5 });
      const first = await exchange(20);
      rig.clear();
      rig.inject(garbageFault, { octets: 20 }, { seed: 5 });
      expect(await exchange(20)).to.equal(first);
      expect(new Set(Buffer.from(first, 'hex')).size).to.be.greaterThan(10);
      rig.clear();
      expect(await rig.works(client)).to.equal(true);
    });

    it('truncate to nothing: no answer', async () => {
      rig.inject(truncateFault, { octets: 0 }, { count: 1 });
      client.send(request);
      await rig.release();
      expect(await rig.works(client)).to.equal(true);
    });

    it('split: pieces with a pause between them', async () => {
      rig.inject(splitFault, { octets: 4, gap_ms: 50 }, { count: 1 });
      client.send(request);
      await rig.release();
      expect((await client.take(4)).toString('hex')).to.equal(answer.slice(0, 8));
      rig.timers.pass(49);
      expect(rig.timers.nextMs).to.equal(1);
      expect(client.received.length).to.equal(0);
      rig.timers.pass(1);
      expect((await client.take(4)).toString('hex')).to.equal(answer.slice(8, 16));
      rig.timers.pass(50);
      expect((await client.take(3)).toString('hex')).to.equal(answer.slice(16));
      expect(await rig.works(client)).to.equal(true);
    });

    it('bad_crc has no occasion, since there is no checksum', async () => {
      const fault = rig.inject(badCrcFault);
      expect(await rig.works(client)).to.equal(true);
      expect(fault.occasions).to.equal(0);
    });

    it('a byte count is changed where there is one: not in answers to writes, not in exceptions', async () => {
      const fault = rig.inject(wrongByteCountFault);
      expect(await client.request(adu(1, 1, '0600650007'))).to.equal('0001000000060106006500' + '07');
      expect(fault.occasions).to.equal(0);
      expect(await exchange(9, readRequest(7, 5, 1))).to.equal('000700000003018302');
    });

    it('an exception keeps its mark under another function code', async () => {
      rig.inject(wrongFunctionFault);
      expect(await exchange(9, readRequest(7, 5, 1))).to.equal('000700000003018402');
      expect(await exchange(9, adu(7, 1, '32'))).to.equal('00070000000301b301');
    });
  });

  describe('changed answers, RTU', () => {
    const rows: readonly (readonly [FaultKind, object, Buffer])[] = [
      [wrongUnitFault, { unit_id: 9 }, rtuFrame('0903020064')],
      [wrongFunctionFault, {}, rtuFrame('0104020064')],
      [wrongByteCountFault, {}, rtuFrame('0103040064')],
      [truncateFault, { octets: 4 }, rtuAnswer.subarray(0, 4)],
      [duplicateFault, {}, Buffer.concat([rtuAnswer, rtuAnswer])],
      // minimalmodbus#61, home-assistant/core#69742 and epics-modules/modbus#39
      [strayOctetsFault, {}, Buffer.concat([Buffer.from([0]), rtuAnswer])],
      [strayOctetsFault, { place: 'behind', octets: [0, 0, 0] }, Buffer.concat([rtuAnswer, Buffer.alloc(3)])],
      [strayOctetsFault, { place: 'instead', octets: [255] }, Buffer.from([255])],
      [echoFault, {}, Buffer.concat([rtuRequest, rtuAnswer])],
      [badCrcFault, {}, Buffer.concat([rtuAnswer.subarray(0, 6), Buffer.from([rtuAnswer[6]! ^ 0xff])])],
    ];
    for (const [kind, parameters, expected] of rows) {
      it(`${kind.kind}: ${kind === badCrcFault ? 'a CRC that is wrong' : 'the CRC fits what is sent, as far as it is sent'}`, async () => {
        client = await rig.open(rig.rtu);
        rig.inject(kind, { ...parameters });
        expect(await exchange(expected.length, rtuRequest)).to.equal(expected.toString('hex'));
        rig.clear();
        expect(await rig.works(client, rig.rtu)).to.equal(true);
      });
    }

    it('wrong_transaction has no occasion', async () => {
      client = await rig.open(rig.rtu);
      const fault = rig.inject(wrongTransactionFault);
      expect(await rig.works(client, rig.rtu)).to.equal(true);
      expect(fault.occasions).to.equal(0);
    });
  });

  describe('several at once', () => {
    it('contents first, then the number of octets, then how often, then the pieces, in whatever order they came', async () => {
      rig.inject(splitFault, { octets: 5 });
      rig.inject(duplicateFault);
      rig.inject(truncateFault, { octets: 8 });
      rig.inject(wrongUnitFault, { unit_id: 3 });
      rig.inject(wrongFunctionFault);
      expect(await exchange(16)).to.equal('0007000000050304'.repeat(2));
    });

    it('a later change of one field is made on top of an earlier one', async () => {
      rig.inject(wrongTransactionFault, { mode: 'zero' });
      rig.inject(wrongTransactionFault, { mode: 'other' });
      expect((await exchange(11)).slice(0, 4)).to.equal('0001');
    });

    it('a checksum of RTU is right for what was changed, before it is spoilt', async () => {
      client = await rig.open(rig.rtu);
      rig.inject(badCrcFault);
      rig.inject(wrongUnitFault, { unit_id: 9 });
      const right = rtuFrame('0903020064');
      const got = await exchange(7, rtuRequest);
      expect(got.slice(0, 12)).to.equal(right.toString('hex').slice(0, 12));
      expect(got.slice(12)).not.to.equal(right.toString('hex').slice(12));
    });

    it('an echo comes in front of stray octets, and each answer has its own', async () => {
      client = await rig.open(rig.rtu);
      rig.inject(echoFault);
      rig.inject(strayOctetsFault, { octets: [170] });
      const other = rtuFrame('010300650001');
      client.send(rtuRequest);
      await rig.release();
      const size = rtuRequest.length + 1 + rtuAnswer.length;
      expect(await client.take(size)).to.deep.equal(Buffer.concat([rtuRequest, Buffer.from([170]), rtuAnswer]));
      client.send(other);
      await rig.release();
      expect((await client.take(size)).subarray(0, 9)).to.deep.equal(Buffer.concat([other, Buffer.from([170])]));
    });

    it('of drop, disconnect and exception the first that strikes decides, and the others are not asked', async () => {
      const exception = rig.inject(exceptionFault, { code: 6 }, { every: 2 });
      const drop = rig.inject(dropFault);
      client.send(request);
      await until(() => drop.strikeCount === 1);
      expect(await client.request(request)).to.equal('000700000003018306');
      expect([exception.occasions, exception.strikeCount, drop.occasions]).to.deep.equal([2, 1, 1]);
    });

    it('delays add up, and an exception is delayed as well', async () => {
      rig.inject(delayFault, { delay_ms: 100 });
      rig.inject(delayFault, { delay_ms: 30 });
      rig.inject(exceptionFault, { code: 4 });
      client.send(request);
      await until(() => rig.timers.waiting > 0);
      expect(rig.timers.nextMs).to.equal(130);
      rig.timers.pass(130);
      expect((await client.answer()).toString('hex')).to.equal('000700000003018304');
    });

    it('without an answer nothing is delayed or changed', async () => {
      rig.inject(dropFault, {}, { count: 1 });
      const delay = rig.inject(delayFault, { delay_ms: 100 }, { count: 1 });
      client.send(request);
      await until(() => rig.faults.registry.active.length === 1);
      expect([delay.occasions, rig.timers.waiting]).to.deep.equal([0, 0]);
    });

    it('a unit id that nobody answers for is no occasion', async () => {
      const delay = rig.inject(delayFault, { delay_ms: 100 }, { count: 1 });
      client.send(readRequest(1, 100, 1, 9));
      await until(() => rig.context.counters.foreign === 1);
      expect([delay.occasions, rig.timers.waiting]).to.deep.equal([0, 0]);
      rig.clear();
      expect(await rig.works(client)).to.equal(true);
    });
  });

  describe('delay', () => {
    it('holds back later answers on the connection, in order, and none elsewhere', async () => {
      const elsewhere = await rig.open();
      rig.inject(delayFault, { delay_ms: 500 }, { count: 1 });
      client.send(Buffer.concat(Array.from({ length: 5 }, (_, i) => readRequest(i, 100 + i, 1))));
      await until(() => rig.timers.waiting > 0);
      expect(await rig.works(elsewhere)).to.equal(true);
      rig.timers.pass(499);
      expect(await rig.works(elsewhere)).to.equal(true);
      expect(client.received.length).to.equal(0);
      rig.timers.pass(1);
      for (let i = 0; i < 5; i++) {
        const got = await client.answer();
        expect([got.readUInt16BE(0), got.readUInt16BE(9)]).to.deep.equal([i, 100 + i]);
      }
    });

    it('carries a write out before it waits, and what comes behind it only afterwards', async () => {
      rig.inject(delayFault, { delay_ms: 500 }, { count: 1 });
      client.send(Buffer.concat([adu(1, 1, '0600640007'), adu(2, 1, '0600650008')]));
      await until(() => rig.timers.waiting > 0);
      expect(rig.units[0].writes.map(({ address }) => address)).to.deep.equal([100]);
      rig.timers.pass(500);
      await client.answer();
      await client.answer();
      expect(rig.units[0].writes.map(({ address }) => address)).to.deep.equal([100, 101]);
    });

    it('ends when it is cleared: what it holds leaves', async () => {
      rig.inject(delayFault, { delay_ms: 600_000 });
      // makes nothing wait
      rig.inject(splitFault, { octets: 6 }, { count: 1 });
      client.send(Buffer.concat([request, request]));
      await until(() => rig.timers.waiting > 0);
      rig.clear();
      rig.timers.pass(0);
      for (let i = 0; i < 2; i++) expect((await client.answer()).toString('hex')).to.equal(answer);
      expect(rig.timers.waiting).to.equal(0);
      expect(await rig.works(client)).to.equal(true);
    });

    it('goes on until all that make it up are cleared, and beyond the end of one by its count', async () => {
      const [first, counted] = [
        rig.inject(delayFault, { delay_ms: 300 }),
        rig.inject(delayFault, { delay_ms: 200 }, { count: 1 }),
      ];
      client.send(request);
      await until(() => rig.timers.waiting > 0);
      expect([counted.end, counted.isTakenBack]).to.deep.equal(['count', false]);
      rig.clear();
      expect([first.end, first.isTakenBack]).to.deep.equal(['cleared', true]);
      rig.timers.pass(499);
      expect(rig.timers.nextMs).to.equal(1);
      rig.timers.pass(1);
      await client.answer();
      expect(await rig.works(client)).to.equal(true);
    });

    it('of pieces ends as well: the rest leaves in one go', async () => {
      rig.inject(splitFault, { octets: 2, gap_ms: 60_000 });
      client.send(request);
      await rig.release();
      expect((await client.take(2)).toString('hex')).to.equal(answer.slice(0, 4));
      rig.clear();
      rig.timers.pass(0);
      expect((await client.take(9)).toString('hex')).to.equal(answer.slice(4));
      expect([rig.timers.waiting, await rig.works(client)]).to.deep.equal([0, true]);
    });

    it('adds a random part that the seed decides', async () => {
      const waits = async (seed: number) => {
        rig.inject(delayFault, { delay_ms: 300, jitter_ms: 500 }, { seed });
        const found: number[] = [];
        for (let i = 0; i < 8; i++) {
          client.send(request);
          await until(() => rig.timers.waiting > 0);
          found.push(rig.timers.nextMs);
          rig.timers.pass(800);
          await client.answer();
        }
        rig.clear();
        return found;
      };
      const first = await waits(1);
      for (const wait of first) expect(wait).to.be.within(300, 800);
      expect(Math.max(...first) - Math.min(...first)).to.be.greaterThan(50);
      expect((await waits(1)).map(Math.round)).to.deep.equal(first.map(Math.round));
    });

    it('holds no more than 256 KiB for a master that sends 50,000 requests into a delay of a minute (M7)', async () => {
      const total = 50_000;
      rig.inject(delayFault, { delay_ms: 60_000 }, { count: 1 });
      client.send(Buffer.concat(Array.from({ length: total }, (_, i) => readRequest(i & 0xffff, 100, 1))));
      await until(() => rig.timers.waiting > 0);
      // long enough for whatever else would be read
      for (let turn = 0; turn < 2000; turn++)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      const [held] = rig.own.clients();
      expect(held!.heldBytes).to.be.lessThan(256 * 1024);
      expect(held!.requests).to.equal(1);
      rig.context.sweeper.sweep();
      rig.timers.pass(60_000);
      rig.context.sweeper.sweep();
      for (let i = 0; i < total; i++) {
        if ((await client.answer()).readUInt16BE(0) !== (i & 0xffff)) expect.fail(`answer ${i} is out of order`);
      }
      expect(rig.own.clients()[0]!.requests).to.equal(total);
    });

    it('leaves nothing behind when the master goes away while it waits', async () => {
      rig.inject(delayFault, { delay_ms: 500 });
      client.send(request);
      await until(() => rig.timers.waiting > 0);
      client.destroy();
      await until(() => rig.own.connectionCount === 0);
      expect(rig.timers.waiting).to.equal(0);
    });
  });

  describe('no answer', () => {
    for (const carriedOut of [false, true]) {
      it(`drop, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
        rig.inject(dropFault, { carried_out: carriedOut }, { count: 1 });
        client.send(adu(1, 1, '0600640007'));
        await until(() => rig.faults.registry.active.length === 0);
        expect(rig.units[0].writes).to.have.length(carriedOut ? 1 : 0);
        client.send(adu(2, 1, '0600640064'));
        expect((await client.answer()).readUInt16BE(0)).to.equal(2);
      });

      it(`disconnect, ${carriedOut ? 'carried out' : 'not carried out'}`, async () => {
        const elsewhere = await rig.open();
        rig.inject(disconnectFault, { carried_out: carriedOut }, { count: 1 });
        client.send(Buffer.concat([adu(1, 1, '0600640007'), adu(2, 1, '0600650007')]));
        await rig.release();
        expect((await client.untilClosed()).length).to.equal(0);
        expect(rig.units[0].writes).to.have.length(carriedOut ? 1 : 0);
        rig.units[0].bytes.writeUInt16BE(100, 0);
        expect(await rig.works(elsewhere)).to.equal(true);
        expect(await rig.works(await rig.open())).to.equal(true);
      });
    }
  });

  describe('exception', () => {
    it('answers with any code; a refused write changes nothing', async () => {
      rig.inject(exceptionFault, { code: 0x0b });
      expect(await client.request(adu(1, 1, '0600640007'))).to.equal('00010000000301860b');
      expect(rig.units[0].writes).to.have.length(0);
    });

    it('carries out first where it shall', async () => {
      rig.inject(exceptionFault, { code: 4, carried_out: true });
      expect(await client.request(adu(1, 1, '0600640007'))).to.equal('000100000003018604');
      expect(rig.units[0].writes).to.deep.equal([{ address: 100, words: '0007', peer: rig.units[0].writes[0]!.peer }]);
    });

    it('is in the log where the write is carried out before', async () => {
      rig.inject(exceptionFault, { code: 4, carried_out: true });
      for (const pdu of ['0600640007', '0600630007', '0300640001']) await client.request(adu(1, 1, pdu));
      const lines = rig.log.entries().flatMap(({ message }) => message.split(/^127\.0\.0\.1:\d+, unit 1: /)[1] ?? []);
      expect(lines).to.deep.equal([
        'function 6 (write single register) of register 100 carried out, but answered with ' +
          'exception 4 (server device failure) by fault injection',
        'function 6 (write single register) of register 99 refused with exception 2 (illegal data address): ' +
          'no such register',
      ]);
    });

    it('by function: no function 6 (APsystems)', async () => {
      rig.inject(exceptionFault, { code: 1 }, { target: { functions: [6] } });
      expect(await client.request(adu(1, 1, '0600640007'))).to.equal('000100000003018601');
      expect(await client.request(adu(1, 1, '10006400010200' + '64'))).to.equal('000100000006011000640001');
      expect(await rig.works(client)).to.equal(true);
    });

    it('by quantity: function 16 for one register (Kostal)', async () => {
      rig.inject(exceptionFault, { code: 2, quantity_max: 1 }, { target: { functions: [16] } });
      expect(await client.request(adu(1, 1, '1000640001020007'))).to.equal('000100000003019002');
      expect(await client.request(adu(1, 1, '100064000204' + '00640065'))).to.equal('000100000006011000640002');
    });

    it('by quantity, function 6 counting one', async () => {
      rig.inject(exceptionFault, { code: 2, quantity_min: 2, quantity_max: 3 });
      const codes: string[] = [];
      for (const count of [1, 2, 3, 4]) codes.push((await client.request(readRequest(1, 100, count))).slice(14, 18));
      expect(codes).to.deep.equal(['0302', '8302', '8302', '0308']);
      expect(await client.request(adu(1, 1, '0600640064'))).to.equal('000100000006010600640064');
    });

    it('by registers: each request that touches one', async () => {
      rig.inject(exceptionFault, { code: 2 }, { target: { registers: { address: 110, count: 5 } } });
      const refused = async (address: number, count: number) =>
        (await client.request(readRequest(1, address, count))).length === 18;
      expect([
        await refused(109, 1),
        await refused(109, 2),
        await refused(110, 1),
        await refused(114, 5),
        await refused(115, 1),
        await refused(100, 30),
      ]).to.deep.equal([false, true, true, true, false, true]);
    });

    it('by point: each request that touches one of its registers', async () => {
      rig.inject(exceptionFault, { code: 2 }, { target: { points: ['pair'], functions: [3] } });
      const refused = async (address: number, count: number) =>
        (await client.request(readRequest(1, address, count))).length === 18;
      expect([await refused(129, 1), await refused(131, 1), await refused(132, 1)]).to.deep.equal([false, true, false]);
    });

    it('a request that is too short to have an address is not aimed at', async () => {
      const fault = rig.inject(exceptionFault, { code: 6 }, { target: { registers: { address: 0, count: 65_535 } } });
      expect(await client.request(adu(1, 1, '03'))).to.equal('000100000003018303');
      expect(fault.occasions).to.equal(0);
    });

    it('never makes a unit id speak that nobody has', async () => {
      const fault = rig.inject(exceptionFault, { code: 6 });
      client.send(readRequest(1, 100, 1, 77));
      expect(await client.request(readRequest(2, 100, 1))).to.equal('000200000003018306');
      expect(fault.occasions).to.equal(1);
    });
  });
});
