/** A scenario that judges the voltages of a street in OpenDSS while the clock runs. */
import { expect } from 'chai';
import { failureOf } from '../support/client.ts';
import { runExample } from './support/cosim.ts';
import { describeWith } from './support/peers.ts';

describeWith(['opendssdirect.py'], 'a scenario beside a street in OpenDSS', function () {
  this.timeout(120_000);

  it('sees each device in its band with volt-var, and the voltage follow the limit of a master', async () => {
    const { rows } = await runExample('opendss_scenario');
    for (const words of ['Node 10: is in its band', 'the limit lowers the voltage', 'the scenario has passed'])
      expect(
        rows.filter(({ name, holds }) => holds && name.includes(words)),
        words,
      ).to.have.length(1);
  });

  it('fails at the end of the street without volt-var', async () => {
    const { message } = await failureOf(runExample('opendss_scenario', '--set', 'volt_var=false'));
    expect(message).to.match(
      /Node 10: is in its band of voltage: 701\.LNV of device 9 must be between 219\.4 and 244\.1/,
    );
    expect(message).to.match(/Node 1: is in its band of voltage +yes/);
  });
});

describeWith(['pysunspec2'], 'the example of real time', function () {
  this.timeout(120_000);

  it('sees powers and ticks beside a running clock, and devices that follow', async () => {
    const { rows, figures } = await runExample('real_time', '--devices', '5', '--seconds', '1');
    expect(rows.map(({ holds }) => holds)).to.deep.equal([true, true]);
    for (const name of ['from the request to its answer', 'from the request to the next powers']) {
      const [median, , maximum] = figures[name] as readonly [number, number, number];
      expect(median, name).to.be.within(0.01, maximum);
    }
  });
});
