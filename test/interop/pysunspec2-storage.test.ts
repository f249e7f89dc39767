import { expect } from 'chai';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';
import { Stream } from './support/stream.ts';

const chain = [1, 701, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715, 802];

interface ScannedModel {
  readonly id: number;
  readonly address: number;
  readonly length: number;
  readonly error: string;
}
interface DescribedPoint {
  readonly path: string;
  readonly mandatory: boolean;
  readonly implemented: boolean;
}
type Values = Readonly<Record<string, number>>;

const illegalDataValue = 3;
/** Values of 802.ChaSt. */
const chaSt = { discharging: 3, charging: 4 } as const;
const socPct = { floor: 10, chargedBy: 1 } as const;

describeWith(['pysunspec2'], 'storage', () => {
  for (const { name, type, ports } of [
    { name: 'battery', type: 'Batt-3Phase', ports: [1] },
    { name: 'hybrid', type: 'HybridDC-3Phase', ports: [0, 1] },
  ] as const) {
    describe(name, () => {
      let simulator: RunningSimulator;
      let master: PythonPeer;
      let stream: Stream;
      let models: readonly ScannedModel[];

      before(async () => {
        simulator = await startSimulator(['--tick', '0.1', '-d', type]);
        stream = await Stream.open(simulator.httpPort);
        master = new PythonPeer('sunspec_master', simulator.modbusPort);
        ({ models } = await master.ask('scan'));
      });
      after(async () => {
        await stream.close();
        await master.stop();
        expect(await simulator.stop()).to.equal(0);
      });

      const read = (model: number): Promise<Values> => master.ask('read', { model });
      const write = (model: number, values: Values) => master.ask('write_model', { model, values });
      const control = async (what: 'time' | 'environment', body: Json) => {
        const { status, text } = await ask(simulator.httpPort, `/api/sim/controls/${what}`, { body });
        expect(status, text).to.equal(200);
      };
      const time = (body: Json) => control('time', body);

      it('is a chain that ends with 802, with lengths that fit the definitions', () => {
        expect(models.map(({ id }) => id)).to.deep.equal(chain);
        let address = 40_002;
        for (const model of models) {
          expect(model, `model ${model.id}`).to.include({ address, error: '' });
          address += model.length + 2;
        }
      });

      it('implements every mandatory point', async () => {
        for (const model of chain) {
          const points: DescribedPoint[] = await master.ask('describe', { model });
          const missing = points.filter((point) => point.mandatory && !point.implemented).map(({ path }) => path);
          expect(missing, `model ${model}`).to.deep.equal([]);
        }
      });

      it('shows its ports and the limits of its charge', async () => {
        const [dc, bank] = [await read(714), await read(802)];
        ports.forEach((kind, i) => {
          expect(dc[`Prt[${i}].PrtTyp`], `port ${i}`).to.equal(kind);
        });
        expect(bank['SoCMin']).to.equal(socPct.floor);
        expect(bank['SoC']).to.equal((await read(713))['SoC']);
      });

      it('takes a reserve and gives it back, within the bounds of the device', async () => {
        await master.ask('write_point', { model: 802, path: 'SoCRsvMin', value: 25.5 });
        expect(await master.ask('read_point', { model: 802, path: 'SoCRsvMin' })).to.equal(25.5);
        expect(await master.exceptionOf('write_point', { model: 802, path: 'SoCRsvMin', value: 9 })).to.equal(
          illegalDataValue,
        );
        expect(await master.exceptionOf('write_point', { model: 802, path: 'SetInvState', value: 1 })).to.equal(
          illegalDataValue,
        );
        expect((await read(802))['SoCRsvMin']).to.equal(25.5);
      });

      it('charges and discharges by 704.WSet: 713 and 802 move', async () => {
        for (const [watts, sign, state] of [
          [-5000, 1, chaSt.charging],
          [5000, -1, chaSt.discharging],
        ] as const) {
          // no sun: all that moves is the battery
          await control('environment', { irradiance_w_m2: 0 });
          await time({ mode: 'accelerated', rate: 1 });
          await write(704, { WSetMod: 1, WSet: watts, WSetEna: 1 });
          await stream.until(
            `${watts} W`,
            15,
            async () => (await master.ask('read_point', { model: 701, path: 'W' })) === watts || undefined,
          );
          const before = await read(713);
          // half a minute of the device in each tick, so that its charge is seen to move
          await time({ rate: 300 });
          await stream.until(
            'another state of charge',
            15,
            async () => sign * ((await read(713))['SoC']! - before['SoC']!) > socPct.chargedBy || undefined,
          );
          await time({ mode: 'paused' });
          const [ac, summary, dc, bank] = [await read(701), await read(713), await read(714), await read(802)];
          expect(ac['W']).to.equal(watts);
          expect(bank).to.include({ SoC: summary['SoC'], W: dc[`Prt[${ports.length - 1}].DCW`], ChaSt: state });
          expect(Math.sign(bank['A']!)).to.equal(-sign);
          expect(Math.sign(summary['WHAvail']! - before['WHAvail']!)).to.equal(sign);
          expect(dc['DCW']! / watts).to.be.within(0.9, 1.1);
        }
      });

      it('reads what the HTTP interface shows, point by point', async () => {
        await time({ mode: 'paused' });
        for (const model of [713, 714, 802]) {
          const { json } = await ask(simulator.httpPort, `/api/sim/registers/${model}`);
          const shown = Object.fromEntries(
            json.points.map((point: Json) => [point.name, point.value === '' ? null : point.value]),
          );
          const registers: Record<string, unknown> = await master.ask('read', { model });
          expect(Object.keys(registers), `points of ${model}`).to.have.members(Object.keys(shown));
          delete registers['Pad'];
          for (const [path, value] of Object.entries(registers))
            expect(value, `${model}.${path}`).to.equal(shown[path]);
        }
      });
    });
  }
});
