import { expect } from 'chai';
import { createModbusAdapter } from '../../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter } from '../../../../src/sunspec/modbus/bridge.ts';
import { exceptionOf } from '../../../../src/sunspec/modbus/server/unit.ts';
import { plainPath } from '../../../../src/sunspec/map/layout.ts';
import type { PointSlot } from '../../../../src/sunspec/map/layout.ts';
import { writersOf } from '../../../../src/sunspec/modbus/access/access-bridge.ts';
import { roles } from '../../../../src/sunspec/modbus/access/certificate-role.ts';
import type { Role } from '../../../../src/sunspec/modbus/access/certificate-role.ts';
import { byModbus, createTestBank, leanSizes, slotOf, words } from '../../../support/map.ts';
import type { TestBank } from '../../../support/map.ts';
import { adu, readRequest } from '../../../support/modbus-client.ts';
import type { RawClient } from '../../../support/modbus-client.ts';
import { testPki } from '../../../support/pki.ts';
import type { TestPki } from '../../../support/pki.ts';
import { openTls, serverFiles, tlsOver } from '../../../support/tls.ts';

const hex = (value: number, digits = 4) => value.toString(16).padStart(digits, '0');

/** FC16 request that writes `values` from `address`. */
function writeRequest(transactionId: number, address: number, values: Buffer): Buffer {
  return adu(
    transactionId,
    1,
    `10${hex(address)}${hex(values.length / 2)}${hex(values.length, 2)}${values.toString('hex')}`,
  );
}

/** Exception code of an answer; 0: it is none. */
function exceptionIn(answer: Buffer): number {
  return ((answer[7] ?? 0) & 0x80) === 0 ? 0 : (answer[8] ?? 0);
}

describe('Secure SunSpec Modbus: what a role may do', () => {
  let pki: TestPki;
  let test: TestBank;
  let adapter: ModbusAdapter;
  let port: number;
  const masters = new Map<Role | null, RawClient>();
  const everybody = [...roles, null];
  const refused = 1;

  before(async () => {
    pki = await testPki();
    test = createTestBank({ sizes: leanSizes, storage: true, simModels: true });
    adapter = createModbusAdapter({
      devices: [{ index: 0, bank: test.bank }],
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      tlsFiles: tlsOver(serverFiles(pki)),
    });
    await adapter.start();
    port = adapter.endpointOf(0)?.port ?? 0;
    for (const role of everybody)
      masters.set(role, await openTls(port, pki, role === null ? pki.roleless.none : pki.clients[role]));
  });
  after(async () => {
    for (const master of masters.values()) master.destroy();
    await adapter.stop();
  });

  const registers = () => test.bank.read(test.bank.layout.base, test.bank.layout.size).toString('hex');
  const slot = (modelId: number, path: string): PointSlot => slotOf(test.bank.layout, modelId, path);

  function masterOf(role: Role | null): RawClient {
    const master = masters.get(role);
    if (!master) throw new Error('no such master');
    return master;
  }

  async function exceptions(role: Role | null, requests: readonly Buffer[]): Promise<number[]> {
    const master = masterOf(role);
    const codes: number[] = [];
    for (const request of requests) {
      master.send(request);
      codes.push(exceptionIn(await master.answer()));
    }
    return codes;
  }

  const write = async (role: Role | null, address: number, values: Buffer) =>
    (await exceptions(role, [writeRequest(1, address, values)]))[0];
  const read = async (role: Role | null, address: number, count: number) =>
    (await exceptions(role, [readRequest(1, address, count)]))[0];
  const present = ({ address, def }: PointSlot) => Buffer.from(test.bank.read(address, def.size));

  /** Exception of the map itself, without any role; 0: it takes the write. */
  function verdictOfMap(point: PointSlot): number {
    try {
      test.bank.check(point.address, present(point), byModbus);
      return 0;
    } catch (error) {
      return exceptionOf(error) ?? 4;
    }
  }

  describe('every point that a model defines as RW', () => {
    const byModel = new Map<number, PointSlot[]>();
    before(() => {
      for (const point of test.bank.layout.slots) {
        if (point.def.access === 'RW') byModel.set(point.modelId, [...(byModel.get(point.modelId) ?? []), point]);
      }
    });

    for (const modelId of [1, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 715, 802, 64414]) {
      it(`model ${modelId}: is written by its roles as without roles, and answered with exception 1 to the others`, async () => {
        const points = byModel.get(modelId) ?? [];
        expect(points).to.not.be.empty;
        for (const role of everybody) {
          for (const point of points) {
            const isWriter = role !== null && writersOf(modelId, plainPath(point.path)).includes(role);
            const [code, before] = [isWriter ? verdictOfMap(point) : refused, registers()];
            expect(
              await write(role, point.address, present(point)),
              `${role ?? 'no role'} writes ${point.path}`,
            ).to.equal(code);
            if (code !== 0) expect(registers(), point.path).to.equal(before);
          }
        }
      });
    }

    it('is in the list above', () => {
      expect([...byModel.keys()]).to.deep.equal([
        1, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 715, 802, 64414,
      ]);
    });
  });

  describe('spans', () => {
    it('with one point that is not for the role change nothing, the ones that are included', async () => {
      const [vMin, aMax] = [slot(702, 'VMin'), slot(702, 'AMax')];
      expect(aMax.address).to.equal(vMin.address + 1);
      const [before, changed] = [
        registers(),
        words(present(vMin).readUInt16BE() + 10, present(aMax).readUInt16BE() - 1),
      ];
      expect(await write('GridServiceSunSpec', vMin.address, changed)).to.equal(refused);
      expect(registers()).to.equal(before);
      expect(await write('GridServiceSunSpec', aMax.address, changed.subarray(2))).to.equal(0);
      expect(await write('SuperAdministratorSunSpec', vMin.address, changed)).to.equal(0);
      expect(present(vMin)).to.deep.equal(changed.subarray(0, 2));
    });

    it('are checked for the role before anything else: value, part of a point', async () => {
      const limit = slot(704, 'WMaxLimPct');
      expect(await write('NetworkAdministratorSunSpec', limit.address, Buffer.of(0xff, 0xfe))).to.equal(refused);
      expect(await write('GridServiceSunSpec', limit.address, Buffer.of(0xff, 0xfe))).to.equal(3);
      const set = slot(704, 'WSet');
      expect(set.def.size).to.equal(2);
      expect(await write('ReadOnlySunSpec', set.address + 1, Buffer.alloc(2))).to.equal(refused);
      expect(await write('GridServiceSunSpec', set.address + 1, Buffer.alloc(2))).to.equal(3);
    });

    it('of a single register by function 6 are checked as well', async () => {
      const { address } = slot(704, 'WMaxLimPctEna');
      const request = adu(7, 1, `06${hex(address)}0001`);
      expect(await exceptions('ReadOnlySunSpec', [request])).to.deep.equal([refused]);
      expect(test.bank.value(slot(704, 'WMaxLimPctEna'))).to.equal('DISABLED');
      expect(await exceptions('GridServiceSunSpec', [request])).to.deep.equal([0]);
      expect(test.bank.value(slot(704, 'WMaxLimPctEna'))).to.equal('ENABLED');
      expect(await write('GridServiceSunSpec', address, Buffer.alloc(2))).to.equal(0);
    });
  });

  describe('what nobody writes', () => {
    const names = [
      [701, 'W'],
      [702, 'WMaxRtg'],
      [704, 'WMaxLimPctRvrtRem'],
      [1, 'ID'],
    ] as const;

    it('is refused by the map, to roles that write something: exception 2', async () => {
      for (const role of ['GridServiceSunSpec', 'NetworkAdministratorSunSpec', 'SuperAdministratorSunSpec'] as const) {
        for (const [modelId, path] of names)
          expect(await write(role, slot(modelId, path).address, present(slot(modelId, path))), path).to.equal(2);
        expect(await write(role, test.bank.layout.base, Buffer.alloc(2)), 'the marker').to.equal(2);
        expect(await write(role, test.bank.layout.base - 1, Buffer.alloc(2)), 'before the map').to.equal(2);
        expect(await write(role, 0xffff, Buffer.alloc(2)), 'the last address').to.equal(2);
      }
    });

    it('is refused to roles that write nothing as everything is: exception 1', async () => {
      for (const role of ['ReadOnlySunSpec', null] as const) {
        for (const [modelId, path] of names)
          expect(await write(role, slot(modelId, path).address, present(slot(modelId, path))), path).to.equal(refused);
        expect(await write(role, 0xffff, Buffer.alloc(2))).to.equal(refused);
      }
    });
  });

  describe('reading', () => {
    it("is everybody's who has a role, register for register", async () => {
      const { base, size } = test.bank.layout;
      for (const role of roles) {
        let seen = '';
        for (let at = 0; at < size; at += 125) {
          const master = masterOf(role);
          master.send(readRequest(1, base + at, Math.min(125, size - at)));
          seen += (await master.answer()).subarray(9).toString('hex');
        }
        expect(seen, role).to.equal(registers());
        expect(await read(role, base + size, 1)).to.equal(2);
      }
    });

    it('without a role is the walk along the chain, and exception 1 for anything else', async () => {
      const { base, size, models } = test.bank.layout;
      expect(await read(null, base, 2)).to.equal(0);
      expect(await read(null, base, 4)).to.equal(0);
      for (const { address } of models) {
        expect(
          await exceptions(null, [
            readRequest(1, address, 1),
            readRequest(2, address + 1, 1),
            readRequest(3, address, 2),
          ]),
        ).to.deep.equal([0, 0, 0]);
        expect(await exceptions(null, [readRequest(1, address, 3), readRequest(2, address + 2, 1)])).to.deep.equal([
          refused,
          refused,
        ]);
      }
      expect(await read(null, base + size - 2, 2), 'the end model').to.equal(0);
      expect(await read(null, base + size, 1), 'behind the map').to.equal(refused);
      expect(await read(null, 0, 1), 'before the map').to.equal(refused);
      for (const fc of [1, 2, 5, 0x2b])
        expect(await exceptions(null, [adu(1, 1, `${hex(fc, 2)}00000001`)])).to.deep.equal([1]);
    });

    it('of input registers (function 4) obeys the same rights', async () => {
      const { address } = slot(701, 'W');
      const request = adu(3, 1, `04${hex(address)}0001`);
      expect(await exceptions(null, [request])).to.deep.equal([refused]);
      expect(await exceptions('ReadOnlySunSpec', [request])).to.deep.equal([0]);
    });
  });

  it('is told by the list of clients and by the last writer of a point', async () => {
    const listed = adapter.clients().map(({ role }) => role);
    expect(listed).to.have.members(everybody);
    const limit = slot(704, 'WMaxLimPct');
    expect(await write('GridServiceSunSpec', limit.address, present(limit))).to.equal(0);
    expect(test.bank.provenance(limit)?.peer).to.match(/^127\.0\.0\.1:\d+ \(GridServiceSunSpec\)$/);
  });
});
