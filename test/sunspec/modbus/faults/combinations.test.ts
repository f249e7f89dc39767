import { expect } from 'chai';
import fc from 'fast-check';
import type { App } from '../../../../src/app/start-stop.ts';
import { SimError } from '../../../../src/core/errors.ts';
import type { ModbusAdapter } from '../../../../src/sunspec/modbus/bridge.ts';
import { anyFault } from '../../../support/fault-arbitrary.ts';
import { adu, RawClient } from '../../../support/modbus-client.ts';
import { holdsAsync } from '../../../support/property.ts';
import { rtu } from '../../../support/rtu.ts';
import { startApp } from '../../../support/running-app.ts';

const types = ['PV-3Phase', 'Batt-3Phase', 'PV-1Phase'];
const by = { source: 'rest' } as const;
const hex16 = (value: number) => value.toString(16).padStart(4, '0');
const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Requests that a master could send, right and wrong ones. */
function anyPdu(writable: readonly number[]): fc.Arbitrary<string> {
  const word = fc.oneof(fc.nat(1000), fc.nat(0xffff)).map(hex16);
  const address = fc
    .oneof(
      fc.integer({ min: 39_990, max: 41_700 }),
      fc.constantFrom(0, 1, 50_000, 63_000, 0xffff),
      fc.constantFrom(...writable),
    )
    .map(hex16);
  return fc.oneof(
    fc.tuple(fc.constantFrom('03', '04'), address, fc.nat(130).map(hex16)).map((parts) => parts.join('')),
    fc.tuple(address, word).map((parts) => `06${parts.join('')}`),
    fc
      .tuple(address, fc.array(word, { minLength: 1, maxLength: 6 }))
      .map(
        ([at, words]) =>
          `10${at}${hex16(words.length)}${(2 * words.length).toString(16).padStart(2, '0')}${words.join('')}`,
      ),
    fc.uint8Array({ minLength: 1, maxLength: 20 }).map((octets) => Buffer.from(octets).toString('hex')),
  );
}

for (const framing of ['tcp', 'rtu_over_tcp'] as const) {
  describe(`any faults and any requests, ${framing}`, () => {
    let app: App;
    let modbus: ModbusAdapter;
    const frame = (unitId: number, pdu: string) => (framing === 'tcp' ? adu(1, unitId, pdu) : rtu(unitId, pdu));

    before(async () => {
      ({ app } = await startApp(types, ['--mb_shared_port', 'yes', '--mb_framing', framing, '--sim_models', 'yes']));
      modbus = app.adapters.find(({ comm }) => comm === 'modbus_tcp') as ModbusAdapter;
    });
    after(() => app.stop());

    const open = () => RawClient.open(modbus.endpointOf(0)?.port ?? 0);
    /** null: a fault resets it. */
    const openUnlessReset = async () => {
      try {
        return await open();
      } catch (error) {
        expect(error).to.include({ code: 'ECONNRESET' });
        return null;
      }
    };

    function inject(fault: Parameters<typeof app.faults.inject>[0][number]): void {
      try {
        app.faults.inject([fault], by);
      } catch (error) {
        // what no device can have is told, member by member
        expect(error).to.be.instanceOf(SimError);
        expect(error).to.include({ code: 'COMMAND_BAD_VALUE' });
        expect((error as SimError).issues).to.not.have.length(0);
      }
    }

    /** All registers of a device as a master reads them. */
    async function mapOf(client: RawClient, index: number): Promise<string> {
      const { base, size } = app.plant.device(index).bank.layout;
      const pieces: string[] = [];
      for (let at = base; at < base + size; at += 125) {
        const count = Math.min(125, base + size - at);
        client.send(frame(modbus.endpointOf(index)?.unitId ?? 0, `03${hex16(at)}${hex16(count)}`));
        const [head, tail] = framing === 'tcp' ? [9, 0] : [3, 2];
        pieces.push((await client.take(head + 2 * count + tail)).subarray(head, head + 2 * count).toString('hex'));
      }
      return pieces.join('');
    }

    it('never a failure of ours, and everything as before when they are over', async function () {
      this.timeout(60_000);
      const layouts = app.plant.devices.map(({ bank }) => bank.layout);
      const pdu = anyPdu(
        layouts.flatMap(({ slots }) => slots.filter(({ writable }) => writable).map(({ address }) => address)),
      );
      const step = fc.oneof(
        { arbitrary: fc.record({ unitId: fc.constantFrom(0, 1, 2, 3, 4, 255), pdu, master: fc.nat(2) }), weight: 8 },
        { arbitrary: fc.record({ fault: anyFault(layouts) }), weight: 4 },
        { arbitrary: fc.constantFrom('tick' as const, 'clear the oldest' as const), weight: 3 },
      );
      await holdsAsync(
        `${framing}: faults and requests`,
        fc.array(step, { minLength: 10, maxLength: 60 }),
        async (steps) => {
          const masters: RawClient[] = [];
          for (const each of steps) {
            if (each === 'tick') await app.plant.step(1);
            else if (each === 'clear the oldest') app.faults.clear({ id: app.faults.active[0]?.facts.id ?? 0 });
            else if ('fault' in each) inject(each.fault);
            else {
              const known = masters[each.master];
              const master = known === undefined || known.closed ? await openUnlessReset() : known;
              if (master === null) continue;
              masters[each.master] = master;
              master.send(frame(each.unitId, each.pdu));
              await turn();
            }
          }
          app.faults.clear();
          for (const master of Object.values(masters)) master.destroy();
          for (const device of app.plant.devices) device.command({ kind: 'reset', scope: 'device' }, by);
          const last = await open();
          for (const { index, bank } of app.plant.devices) {
            expect(await mapOf(last, index)).to.equal(bank.read(bank.layout.base, bank.layout.size).toString('hex'));
          }
          last.destroy();
          expect(modbus.counters.internalErrors).to.equal(0);
        },
        { runs: 40 },
      );
    });
  });
}
