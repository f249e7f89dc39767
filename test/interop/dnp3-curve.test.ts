import { expect } from 'chai';
import { Dnp3Bench } from './support/dnp3-bench.ts';
import { describeWith, PythonPeer } from './support/peers.ts';

const latchOn = 3;

/** Curve 3: volt-watt, percent of reference voltage to percent of power; the number of points commits it. */
const voltWatt: readonly (readonly [index: number, value: number])[] = [
  [244, 3],
  [245, 5],
  [247, 129],
  [248, 5],
  [249, 1000],
  [250, 1000],
  [251, 1060],
  [252, 1000],
  [253, 1100],
  [254, 200],
  [246, 3],
];

describeWith(['opendnp3', 'pysunspec2'], 'a volt-watt curve of a master of opendnp3', function () {
  this.timeout(120_000);
  let bench: Dnp3Bench;
  let dnp3: PythonPeer;
  let modbus: PythonPeer;

  before(async () => {
    bench = await Dnp3Bench.open(['--tick', '0.1', '-d', 'PV-3Phase', '--start_paused', 'yes']);
    dnp3 = bench.opendnp3();
    await dnp3.ask('begun');
    modbus = new PythonPeer('sunspec_master', bench.simulator.modbusPort);
    await modbus.ask('scan');
  });
  after(async () => {
    await modbus.stop();
    await dnp3.stop();
    await bench.close();
  });

  const operate = async (command: readonly unknown[]) => {
    const { results } = await dnp3.ask('operate', { commands: [command] });
    expect(results[0].status, String(command)).to.equal('SUCCESS');
  };
  const step = (ticks: number) => bench.post('controls/time/step', { ticks });

  it('limits 701.W when the voltage rises, and pysunspec2 reads it in 706', async () => {
    await step(100);
    const before = Number(await modbus.ask('read_point', { model: 701, path: 'W' }));
    for (const [index, value] of voltWatt) await operate(['AO', index, value, 'Int32']);
    await operate(['AO', 173, 3, 'Int32']);
    await operate(['AO', 175, 1, 'Int32']);
    await operate(['BO', 25, latchOn]);

    const read = (path: string) => modbus.ask('read_point', { model: 706, path });
    expect(await read('Ena')).to.equal(1);
    expect(await read('Crv[0].ActPt')).to.equal(3);
    const points = [];
    for (const i of [0, 1, 2])
      points.push([await read(`Crv[0].Pt[${i}].V`), await read(`Crv[0].Pt[${i}].W`)].map(Number));
    expect(points).to.deep.equal([
      [100, 100],
      [106, 100],
      [110, 20],
    ]);

    await bench.post('controls/grid', { voltage_pu: 1.08 });
    await step(600);
    const after = Number(await modbus.ask('read_point', { model: 701, path: 'W' }));
    expect(before).to.be.greaterThan(8000);
    expect(after).to.be.closeTo(6000, 700);
  });
});
