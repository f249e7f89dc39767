/** A feeder of 34 nodes in OpenDSS with PV, batteries and charging stations, masters beside it, and an outage. */
import { expect } from 'chai';
import { differenceOf, runExample } from './support/cosim.ts';
import { describeWith } from './support/peers.ts';

describeWith(['opendssdirect.py', 'pysunspec2'], 'a mixed site on a feeder in OpenDSS', () => {
  it('answers masters, vehicles, a cloud and an outage with the voltages that follow from them', async () => {
    const table = await runExample('opendss_mixed');
    expect(differenceOf(table, 'published')).to.be.below(2e-4);
    expect(differenceOf(table, 'voltage of each phase')).to.be.below(1e-6);
    const { cloud_w: cloud, returns_s: returns } = table.figures as {
      cloud_w: Record<string, number>;
      returns_s: number[];
    };
    expect(cloud['head_with_batteries']).to.be.below((cloud['head_alone'] ?? NaN) / 4);
    expect(returns).to.have.length(20);
    expect(new Set(returns).size, 'instants of return').to.be.above(10);
  }).timeout(120_000);
});
